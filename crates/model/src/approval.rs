//! Approvals: evidence that a human agreed to one plan's effects.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, Plan};

/// What an approver signs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// The version of this document's form: 1.
    pub schema: u32,
    /// The change digest of the plan.
    pub change_digest: Digest,
    /// What the plan is about, see [`Plan::subject`].
    pub subject: Value,
    /// The digest of each effect, sorted, see [`Plan::effects`].
    pub effects: Vec<Digest>,
    /// Who approves, as the environment file names the approver.
    pub approver: String,
    /// Why, in the approver's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was given.
    pub given_at: Timestamp,
    /// Until when it counts.
    pub not_after: Timestamp,
    /// A random text that makes the approval usable once.
    pub nonce: String,
}

impl Approval {
    /// Says whether the digest really is that of the listed subject and effects.
    pub fn is_consistent(&self) -> bool {
        Plan::digest_of(&self.subject, &self.effects) == self.change_digest
    }

    /// Says whether the approval covers the plan: same subject, and every effect of the plan is among the
    /// approved ones. A plan with fewer effects is covered, for instance after an interrupted run.
    pub fn covers(&self, plan: &Plan) -> bool {
        self.is_consistent()
            && self.subject == plan.subject()
            && plan.effects().iter().all(|effect| self.effects.binary_search(effect).is_ok())
    }
}

/// On what grounds a plan may be carried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "evidence")]
pub enum Evidence {
    /// The environment's rules ask for no approval.
    NotRequired,
    /// Signed approvals.
    Signed {
        /// The approvals that count.
        approvals: Vec<Approval>,
    },
    /// Someone typed the digest at the terminal.
    Terminal {
        /// The user, as the agent knows them.
        user: String,
        /// The digest they confirmed.
        digest: Digest,
    },
}

/// A plan that may be carried out.
///
/// Only stage 4 makes one: [`ApprovedPlan::attest`] is banned elsewhere by `clippy.toml`.
#[derive(Debug, Clone)]
pub struct ApprovedPlan {
    plan: Plan,
    evidence: Evidence,
}

impl ApprovedPlan {
    /// States that this plan may be carried out on these grounds.
    pub fn attest(plan: Plan, evidence: Evidence) -> Self {
        Self { plan, evidence }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the grounds.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}
