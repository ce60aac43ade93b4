//! The approvers' keys.

use ssh_key::PublicKey;
use windlass_settings::ApprovalRules;

/// Says that an approver's key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("approval.approvers[{index}].key: the key of `{approver}` is not an SSH public key: {why}")]
pub struct KeyError {
    /// The position in the list.
    pub index: usize,
    /// The approver.
    pub approver: String,
    /// What is wrong.
    pub why: String,
}

impl KeyError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        "give the one line of the approver's `.pub` file, such as `ssh-ed25519 AAAA… name`"
    }
}

/// Checks that every approver's key can be read, so that a typing error is found before an approval is
/// needed.
pub fn check_keys(rules: &ApprovalRules) -> Vec<KeyError> {
    let unreadable = |(index, approver): (usize, &windlass_settings::Approver)| {
        let why = PublicKey::from_openssh(&approver.key).err()?.to_string();
        Some(KeyError { index, approver: approver.name.clone(), why })
    };
    rules.approvers.iter().enumerate().filter_map(unreadable).collect()
}
