//! Who wins where another manager owns a field, and whose ownership is migrated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to fields that the commit declares and another manager owns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ownership {
    /// Who wins; the first rule that fits decides. Where none fits, what a person's tool wrote (`kubectl`,
    /// `kubectl-*`, `helm`, `before-first-apply`) is taken over, and every other manager's field is a conflict.
    #[serde(default)]
    pub conflicts: Vec<ConflictRule>,
    /// Managers whose `Update` entries are migrated, beside those of kubectl's client-side commands: what they
    /// own and the manifest does not declare is removed, visibly. Never name a controller here.
    #[serde(default)]
    pub migrate: Vec<String>,
}

/// Says who wins over a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConflictRule {
    /// The field as plans print it, such as `spec.replicas` or `metadata.annotations["example.com/*"]`; all that
    /// is below it is meant too. `*` stands for any text, `[*]` for any item of a list.
    pub field: String,
    /// The field manager that owns it, such as `kube-controller-manager`; `*` stands for any text.
    pub manager: String,
    /// Kinds for which the rule counts, each as `Kind.group` or `Kind`; empty means all.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Objects for which the rule counts, each as `namespace/name`, or `name` where there is no namespace; `*`
    /// stands for any text. Empty means all.
    #[serde(default)]
    pub names: Vec<String>,
    /// Who wins.
    pub then: Winner,
}

/// Who wins over a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Winner {
    /// The commit: the field is taken over, which the plan shows.
    Take,
    /// The other manager: the field is not sent, as long as that manager owns it. A new object gets it.
    Leave,
    /// Nobody: the plan is refused.
    Fail,
}
