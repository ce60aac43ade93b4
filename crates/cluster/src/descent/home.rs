//! Where the descendants of an object can live.

use windlass_model::{GroupKind, Object, is_custom_kind};

/// Where the descendants of an object can live: an owner is in the namespace of what it owns, or in none (Kubernetes
/// documentation, "Owners and Dependents").
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// One namespace.
    Namespace(String),
    /// Any namespace; and namespaces themselves may descend.
    Cluster,
}

impl Home {
    /// Returns where the descendants of an object live, if its kind can have any that hold data or run.
    pub fn of(object: &Object) -> Option<Self> {
        let reference = object.reference();
        let kind = &reference.kind;
        match &reference.namespace {
            None if kind.is("", "Namespace") => Some(Self::Namespace(reference.name.clone())),
            None => is_custom_kind(kind).then_some(Self::Cluster),
            Some(namespace) => has_descendants(kind).then(|| Self::Namespace(namespace.clone())),
        }
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Namespace(name) => Some(name),
            Self::Cluster => None,
        }
    }
}

fn has_descendants(kind: &GroupKind) -> bool {
    let is_core = matches!(kind.kind.as_str(), "Pod" | "ReplicationController") && kind.group.is_empty();
    is_custom_kind(kind) || is_core || matches!(kind.group.as_str(), "apps" | "batch")
}
