//! Rules over a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Refuses every plan for which an expression is true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanRule {
    /// The name, for messages.
    pub name: String,
    /// A CEL expression over `plan`, the plan as `plan.json` holds it, and `now`, a timestamp. A plan for which it
    /// is true is refused, and so is one for which it cannot be computed: guard fields that may be absent by
    /// `has(…)`.
    pub deny: String,
    /// What to tell people whose plan is refused.
    pub message: String,
}
