//! Differences that are known and accepted for a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hides a known difference until a day. It never loosens a guard: what is ignored is not written either, and keeps
/// the value that it has in the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoreRule {
    /// The kind of the objects, as `Kind.group`, or `Kind` for the core group.
    pub kind: String,
    /// The objects, each as `namespace/name`, or `name` where there is no namespace; `*` stands for any text.
    pub name: String,
    /// The field as plans print it, such as `spec.replicas`; all that is below it is meant too. `*` stands for any
    /// text, `[*]` for any item of a list.
    pub field: String,
    /// Ignore the field only while this field manager owns it; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// The last day (`2026-12-31`, UTC) on which the rule counts.
    pub until: String,
    /// Why the difference is accepted.
    pub reason: String,
    /// Environments in which the rule counts; empty means all.
    #[serde(default)]
    pub environments: Vec<String>,
}
