//! The stages of a run.

use serde::{Deserialize, Serialize};

/// A stage, in the order of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Is this exactly a commit that the protected branch holds, signed by a pinned key?
    Verify,
    /// Are all expected policies enforced right now?
    Gate,
    /// What would change?
    Plan,
    /// Has a human approved this very plan?
    Approve,
    /// Server-side apply, unit by unit.
    Apply,
    /// Did everything become ready?
    Rollout,
    /// Do the applications answer?
    Smoke,
    /// What no unit renders any more is deleted.
    Prune,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 8] = [
        Self::Verify,
        Self::Gate,
        Self::Plan,
        Self::Approve,
        Self::Apply,
        Self::Rollout,
        Self::Smoke,
        Self::Prune,
    ];

    /// Returns the stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Gate => "gate",
            Self::Plan => "plan",
            Self::Approve => "approve",
            Self::Apply => "apply",
            Self::Rollout => "rollout",
            Self::Smoke => "smoke",
            Self::Prune => "prune",
        }
    }
}

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum StageOutcome {
    /// It did what it is there for.
    Passed {
        /// One line on what it found or did.
        summary: String,
    },
    /// There was nothing to do.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It stopped the run.
    Failed {
        /// Why, in one line.
        reason: String,
    },
}
