//! The plan: what a human approves.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Action, Before, ClusterId, Digest, EnvironmentName, Object, Operation, PlanDocument, Provenance,
    Requirement, Risk, Toll,
};

/// What one run would do, and whether it may.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The version of this document's form.
    pub schema: u32,
    /// The tool and its version.
    pub tool: String,
    /// The environment; absent when a bare directory is planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentName>,
    /// The cluster.
    pub cluster: ClusterId,
    /// Where the desired state comes from.
    pub source: Provenance,
    /// What rendered it.
    pub renderer: String,
    /// The digest of the rendered objects.
    pub rendering: Digest,
    /// The digest of the policies that the gate found enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<Digest>,
    /// Why this is a rollback, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<String>,
    /// What the environment was delivered before; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// What happens, object by object, in the order of execution.
    pub actions: Vec<Action>,
    /// What all actions together restart and take along.
    pub toll: Toll,
    /// Why the plan may not be carried out, if it may not.
    pub refusals: Vec<Refusal>,
    /// Whether a human must approve, and why.
    pub requirement: Requirement,
    /// What does not stop the run but should be known.
    pub warnings: Vec<String>,
    /// The parents of the environment's sets, as they were read; `None` if they were not. Part of no written form.
    #[serde(skip)]
    pub parents: Option<Vec<Object>>,
    /// When the plan was made.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: Timestamp,
}

/// Why a guard says no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The guard's stable name, such as `protected-kind` or `prune-budget`.
    pub guard: String,
    /// What it found.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// How many objects each operation touches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// By operation; operations that do not occur are absent.
    pub by_operation: BTreeMap<Operation, usize>,
    /// Objects with a problem.
    pub problems: usize,
    /// Differences that ignore rules hide.
    pub ignored: usize,
}

impl Counts {
    /// Returns the count of one operation.
    pub fn of(&self, operation: Operation) -> usize {
        self.by_operation.get(&operation).copied().unwrap_or_default()
    }
}

/// What becomes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing of it is carried out, approved or not.
    Refused,
    /// Nothing would be written.
    NothingToDo,
    /// A human must approve it.
    ApprovalNeeded,
    /// It can be carried out.
    Ready,
}

impl Plan {
    /// Says what becomes of the plan.
    pub fn verdict(&self) -> Verdict {
        if !self.is_executable() {
            Verdict::Refused
        } else if !self.has_changes() {
            Verdict::NothingToDo
        } else if self.requirement.needed() {
            Verdict::ApprovalNeeded
        } else {
            Verdict::Ready
        }
    }

    /// Counts the actions.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for action in &self.actions {
            *counts.by_operation.entry(action.operation).or_default() += 1;
            counts.problems += usize::from(action.problem.is_some());
            counts.ignored += action.ignored.len();
        }
        counts
    }

    /// Says whether carrying out the plan would write anything.
    pub fn has_changes(&self) -> bool {
        self.actions.iter().any(|action| action.operation.writes())
    }

    /// Says whether the cluster differs from what was delivered: something would be written or cannot be, or an
    /// object looks like a member of a set and is none.
    pub fn has_drift(&self) -> bool {
        let unexplained = |action: &Action| action.operation == Operation::Keep && action.risk > Risk::None;
        self.has_changes() || !self.is_executable() || self.actions.iter().any(unexplained)
    }

    /// Says whether nothing forbids carrying out the plan.
    pub fn is_executable(&self) -> bool {
        self.refusals.is_empty() && self.actions.iter().all(|action| action.problem.is_none())
    }

    /// Returns the digest of each effect on the cluster, sorted: what an approval covers.
    pub fn effects(&self) -> Vec<Digest> {
        let mut effects: Vec<Digest> = self
            .actions
            .iter()
            .filter(|action| action.operation.writes())
            .flat_map(|action| {
                std::iter::once(action.effect())
                    .chain(action.migration_effect())
                    .chain(action.losses().into_iter().map(|loss| loss.effect))
            })
            .map(|effect| Digest::of_json(&effect))
            .collect();
        effects.sort_unstable();
        effects
    }

    /// Returns what a plan is about beside its effects: where, what commit, rollback or not.
    pub fn subject(&self) -> Value {
        json!({
            "environment": self.environment,
            "cluster": self.cluster.uid,
            "commit": self.source.commit(),
            "rendering": self.rendering,
            "rollback": self.rollback.is_some(),
        })
    }

    /// Returns the change digest: what an approval names.
    pub fn change_digest(&self) -> Digest {
        Self::digest_of(&self.subject(), &self.effects())
    }

    /// Returns the change digest of a subject and its sorted effects, to check an approval that lists them.
    pub fn digest_of(subject: &Value, effects: &[Digest]) -> Digest {
        Digest::of_json(&json!({"subject": subject, "effects": effects}))
    }

    /// Returns the whole plan as it is written to a file, with its digest and counts.
    pub fn to_json(&self) -> Value {
        let mut value = serde_json::to_value(PlanDocument::of(self)).unwrap_or_default();
        for (action, shown) in self.actions.iter().zip(value["actions"].as_array_mut().into_iter().flatten())
        {
            shown["reversal"] = json!(action.reversal());
        }
        value
    }
}

/// Proof that every expected policy was enforced when it was looked at.
///
/// Only stage 2 makes one: [`GatePassed::attest`] is banned elsewhere by `clippy.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePassed {
    policies: Digest,
    names: Vec<String>,
}

impl GatePassed {
    /// States that these policies are enforced.
    pub fn attest(names: Vec<String>, policies: Digest) -> Self {
        Self { policies, names }
    }

    /// Returns the digest of the policies' specifications.
    pub fn policies(&self) -> Digest {
        self.policies
    }

    /// Returns the policies' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
