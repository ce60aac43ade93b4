//! How a change is made by hand that only another object can have.

use schemars::JsonSchema;
use serde::Serialize;

/// The way to a change that the server refuses on a live object. Windlass never goes it by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recipe {
    /// What does not work meanwhile.
    pub down: String,
    /// What becomes of data.
    pub data: String,
    /// Whether data can be lost on the way.
    pub data_at_risk: bool,
    /// What is done, in this order; empty where no deletion is safe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RecipeStep>,
    /// Another way, which deletes nothing by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// One step of a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecipeStep {
    /// What is done and why.
    pub text: String,
    /// The command for a POSIX shell, with the object's own names, quoted where they need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl RecipeStep {
    /// Makes a step that a command carries out.
    pub fn run(text: impl Into<String>, command: impl Into<String>) -> Self {
        Self { text: text.into(), command: Some(command.into()) }
    }

    /// Makes a step that is no single command.
    pub fn told(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None }
    }
}
