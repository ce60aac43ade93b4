//! Why an approval does not count.

use jiff::Timestamp;
use windlass_settings::Duration;
use windlass_trust::sshsig::SshRefusal;

use crate::DocumentError;

/// An approval that does not count, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedApproval {
    /// The file's name.
    pub file: String,
    /// Why it does not count.
    pub why: Rejection,
}

/// Says why an approval does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The file is no approval at all.
    #[error("the file {0}")]
    Unusable(#[from] DocumentError),
    /// The document has a form that this version does not know.
    #[error("the approval has form {0}, expected 1")]
    UnknownForm(u32),
    /// The environment file lists no such approver.
    #[error("`{0}` is not an approver of this environment")]
    UnknownApprover(String),
    /// The signature is by nobody who is listed, or the text was changed after it was signed.
    #[error("it is not signed by `{named}`: {why}")]
    BadSignature {
        /// Who the approval says gave it.
        named: String,
        /// What the signature's check says.
        why: SshRefusal,
    },
    /// The signature is by another approver than the one that is named.
    #[error("the approval names `{named}` but was signed with a key of `{signer}`")]
    OtherSigner {
        /// Who the approval says gave it.
        named: String,
        /// Whose key made the signature.
        signer: String,
    },
    /// The digest is not that of the effects listed.
    #[error("the change digest is not that of the effects that the approval lists")]
    Inconsistent,
    /// It is about something else.
    #[error("it approves another {0}")]
    OtherSubject(&'static str),
    /// It was given after the current time.
    #[error("it was given in the future, at {0}")]
    Future(Timestamp),
    /// It no longer counts.
    #[error("it expired at {0}")]
    Expired(Timestamp),
    /// It claims to count for longer than the environment allows.
    #[error("it counts for longer than the {0} that the environment allows")]
    TooLong(Duration),
    /// The approver wrote the commit.
    #[error("`{0}` is the author of the commit")]
    Author(String),
    /// The approver started the run.
    #[error("`{0}` started this run")]
    Trigger(String),
    /// An earlier run used it up.
    #[error("an earlier run has used it")]
    Used,
    /// It covers less than the plan does.
    #[error("it does not cover {0} of the plan's effects")]
    Stale(usize),
    /// It covers the effects, but the commit rendered to something else when it was given.
    #[error("it was given for another rendering of the same commit")]
    OtherRendering,
    /// The same person has approved already.
    #[error("`{0}` has approved already, and each person counts once")]
    SamePerson(String),
    /// The same key, or the same nonce, has been counted already.
    #[error("its {0} has been counted already")]
    SameEvidence(&'static str),
}

impl Rejection {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unusable(error) => error.hint(),
            Self::UnknownForm(_) => "approve with the version of Windlass that carries out the plan",
            Self::UnknownApprover(_) => {
                "ask someone listed under `approval.approvers`, or add the approver there"
            }
            Self::BadSignature { why, .. } => why.hint(),
            Self::OtherSigner { .. } => "approve under the name that the environment file gives to your key",
            Self::Inconsistent => "make a new plan and approve that one",
            Self::OtherSubject(_) => "approve the plan of this run",
            Self::Future(_) => "set the clocks of the approver's machine and of the agent",
            Self::Expired(_) => "approve the plan again",
            Self::TooLong(_) => "approve again with a shorter time, or raise `approval.validFor`",
            Self::Author(_) => "ask another approver: nobody approves a commit of their own",
            Self::Trigger(_) => "ask another approver: nobody approves a run of their own",
            Self::Used => "approve the new plan: an approval counts for one run",
            Self::Stale(_) | Self::OtherRendering => "review the new plan and approve that one",
            Self::SamePerson(_) | Self::SameEvidence(_) => "ask another approver",
        }
    }
}
