//! Giving an approval.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use windlass_model::{Approval, Digest, Plan, canonical_json};
use windlass_settings::Duration;
use windlass_trust::sshsig::{self, APPROVAL_NAMESPACE, SigningError, SigningKey};

use crate::{SignedApproval, plan_file};

/// The form of approval documents that this version writes and reads.
pub(crate) const FORM: u32 = 1;

/// Who agrees, why, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    /// The approver's name, as the environment file writes it.
    pub approver: &'a str,
    /// Why, in the approver's words.
    pub reason: Option<&'a str>,
    /// The current time.
    pub now: Timestamp,
    /// For how long the approval counts.
    pub valid_for: Duration,
    /// A text that was never used before, see [`new_nonce`].
    pub nonce: &'a str,
}

/// Says why a plan file cannot be approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The file is no plan.
    #[error("the file is not a plan: {0} is missing or has another form")]
    NotAPlan(&'static str),
    /// What the file shows is not what an approval of it would cover.
    #[error("the plan file contradicts itself: its {0} do not belong to its actions")]
    Contradiction(&'static str),
    /// The digest in the file is not that of its content.
    #[error("the plan file names the change digest {named}, but its content has {found}")]
    OtherDigest {
        /// The digest that the file names.
        named: Digest,
        /// The digest of its subject and effects.
        found: Digest,
    },
    /// Guards or the server refuse the plan.
    #[error("the plan may not be carried out: {0}")]
    Refused(String),
    /// Nothing would be written.
    #[error("the plan changes nothing, so there is nothing to approve")]
    Empty,
    /// The time for which the approval would count cannot be expressed.
    #[error("the approval would count for too long")]
    TooLong,
    /// The key cannot sign.
    #[error(transparent)]
    Key(#[from] SigningError),
}

impl SignError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAPlan(_) => "give the file that `windlass plan --output json` wrote",
            Self::Contradiction(_) | Self::OtherDigest { .. } => {
                "do not approve it: the file was changed after Windlass wrote it; make a new plan"
            }
            Self::Refused(_) => "mend the cause and make a new plan",
            Self::Empty => "run without an approval",
            Self::TooLong => "give a shorter time",
            Self::Key(error) => error.hint(),
        }
    }
}

/// Makes a random nonce of 32 hex digits.
pub fn new_nonce() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Writes down the approval of a plan file, for signing.
///
/// The file comes from somewhere else, so nothing in it is believed: subject, effects and digest are
/// computed again from the actions that the approver was shown.
pub fn draft(plan_file: &Value, consent: &Consent<'_>) -> Result<Approval, SignError> {
    let shown = plan_file::read(plan_file)?;
    let valid_for = SignedDuration::try_from(consent.valid_for.get()).map_err(|_| SignError::TooLong)?;
    Ok(Approval {
        schema: FORM,
        change_digest: Plan::digest_of(&shown.subject, &shown.effects),
        subject: shown.subject,
        effects: shown.effects,
        approver: consent.approver.to_owned(),
        reason: consent.reason.map(str::to_owned),
        given_at: consent.now,
        not_after: consent.now.checked_add(valid_for).map_err(|_| SignError::TooLong)?,
        nonce: consent.nonce.to_owned(),
    })
}

/// Returns the text that is signed: the canonical JSON of the approval, for `ssh-keygen -Y sign` and agents
/// the namespace is [`APPROVAL_NAMESPACE`].
pub fn message(approval: &Approval) -> String {
    canonical_json(&serde_json::to_value(approval).unwrap_or_default())
}

/// Approves a plan file with a private key, see [`draft`].
pub fn sign(plan_file: &Value, consent: &Consent<'_>, key: &SigningKey) -> Result<SignedApproval, SignError> {
    let approval = draft(plan_file, consent)?;
    let signature = sshsig::sign(key, APPROVAL_NAMESPACE, message(&approval).as_bytes())?;
    Ok(SignedApproval { approval, signature })
}
