//! The approvers' keys.

use windlass_settings::{ApprovalRules, Approver};
use windlass_trust::sshsig::{SshRefusal, fingerprint};

/// Says that an approver's key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("approval.approvers[{index}].key: the key of `{approver}` cannot be used: {why}")]
pub struct KeyError {
    /// The position in the list.
    pub index: usize,
    /// The approver.
    pub approver: String,
    /// What is wrong.
    pub why: SshRefusal,
}

impl KeyError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        self.why.hint()
    }
}

/// Checks that every approver's key can be read, so that a typing error is found before an approval is
/// needed.
pub fn check_keys(rules: &ApprovalRules) -> Vec<KeyError> {
    let unreadable = |(index, approver): (usize, &Approver)| {
        let why = fingerprint(&approver.key).err()?;
        Some(KeyError { index, approver: approver.name.clone(), why })
    };
    rules.approvers.iter().enumerate().filter_map(unreadable).collect()
}

#[cfg(test)]
mod tests {
    use windlass_settings::{Environment, environment_example};

    use super::*;

    #[test]
    fn keys_are_read_before_they_are_needed() {
        let approver = |key: &str| Approver { name: "anna".to_owned(), key: key.to_owned(), email: None };
        let good = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1i5UcwTh8s8lQMpUCO7dKmXN1mCzLaCbnkqCTKj3vL ben@example.org";
        let rules = ApprovalRules {
            approvers: vec![approver(good), approver("ssh-ed25519 AAAA")],
            ..ApprovalRules::default()
        };
        let errors: Vec<String> = check_keys(&rules).iter().map(ToString::to_string).collect();
        let want = "approval.approvers[1].key: the key of `anna` cannot be used: the public key is not a line such as \
                    `ssh-ed25519 AAAA… name`";
        assert_eq!(errors, [want]);
    }
    #[test]
    fn the_example_of_the_reference_page_has_usable_keys() {
        let environment = Environment::parse(environment_example(), "environment.yaml").unwrap();
        assert_eq!(check_keys(&environment.approval), []);
    }
}
