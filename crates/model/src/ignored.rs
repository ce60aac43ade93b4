//! Differences that are known and accepted for a time.

use schemars::JsonSchema;
use serde::Serialize;

/// A difference that an ignore rule of the repository hides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Ignored {
    /// The field, as plans print paths.
    pub field: String,
    /// Why it is ignored.
    pub reason: String,
    /// The last day on which the rule counts.
    pub until: String,
}
