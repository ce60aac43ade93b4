//! Whether a human must approve a plan, and who may.

use schemars::JsonSchema;
use serde::Serialize;

/// Whether a human must approve a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Requirement {
    /// The reasons; empty means that no approval is needed.
    pub reasons: Vec<String>,
    /// Who may approve; absent where nobody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approvals>,
}

/// Whose approvals a plan needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Approvals {
    /// How many different people must approve.
    pub count: usize,
    /// Whose signed approvals count, by name. The commit's author is not among them.
    pub approvers: Vec<String>,
    /// Whether typing the digest at the terminal of the run counts as well.
    pub terminal: bool,
}

impl Requirement {
    /// Says whether a human must approve.
    pub fn needed(&self) -> bool {
        !self.reasons.is_empty()
    }
}
