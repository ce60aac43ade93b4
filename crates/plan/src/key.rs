//! What identifies an object whatever version it is written in.

use std::fmt;

use windlass_model::{GroupKind, ObjectRef};

/// Kind, namespace and name: [`ObjectRef::key`] as a value that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Group and kind.
    pub kind: GroupKind,
    /// The namespace; `None` for cluster-scoped objects.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl From<&ObjectRef> for ObjectKey {
    fn from(object: &ObjectRef) -> Self {
        Self { kind: object.kind.clone(), namespace: object.namespace.clone(), name: object.name.clone() }
    }
}

impl From<(GroupKind, Option<&str>, &str)> for ObjectKey {
    fn from((kind, namespace, name): (GroupKind, Option<&str>, &str)) -> Self {
        Self { kind, namespace: namespace.map(str::to_owned), name: name.to_owned() }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}
