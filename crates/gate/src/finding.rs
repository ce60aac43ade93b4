//! What keeps the gate closed.

use std::fmt;

use serde::Serialize;

/// Why one policy is not known to be enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The policy, as `ValidatingAdmissionPolicy name` or `Kind name`.
    pub policy: String,
    /// What kind of trouble it is.
    pub class: Class,
    /// What was found. May hold texts of the cluster.
    pub message: String,
    /// What to do.
    pub hint: &'static str,
}

/// What kind of trouble a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Something that must be there is not.
    Missing,
    /// It is there, but does not refuse: it only warns, or fails open.
    Weaker,
    /// It is there, but cannot work.
    Broken,
    /// It may work in a moment.
    Pending,
    /// The cluster's answer proves nothing either way.
    Unknown,
    /// The object that must be refused was admitted.
    NotEnforced,
}

impl Class {
    /// Returns the word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Weaker => "weaker",
            Self::Broken => "broken",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::NotEnforced => "not enforced",
        }
    }

    /// Says whether the trouble may pass by itself within seconds: the policy was just made or changed.
    pub(crate) fn may_pass(self) -> bool {
        matches!(self, Self::Pending | Self::NotEnforced)
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Missing => {
                "install it in the cluster, or take it out of `policies` in the environment file"
            }
            Self::Weaker => "let it deny: `failurePolicy: Fail`, and the action `Deny` or `deny`",
            Self::Broken => "repair it, and look at its status",
            Self::Pending => "wait a moment and run the same command again",
            Self::Unknown => {
                "give `refuses` an object that this policy alone refuses, in a namespace that exists, and that the identity may create"
            }
            Self::NotEnforced => {
                "find out why it does not act: its match rules, its binding, or the webhook that answers for it"
            }
        }
    }
}

impl Finding {
    pub(crate) fn new(policy: &str, class: Class, message: impl Into<String>) -> Self {
        Self { policy: policy.to_owned(), class, message: message.into(), hint: class.hint() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.policy, self.class.word(), self.message)
    }
}
