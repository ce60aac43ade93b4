//! What was applied, and what was pruned.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Digest, GroupKind, ObjectRef, RetainedVolume};

use crate::parents::Parents;

/// Proof that everything of a rendering is in the cluster as the approved plan says.
///
/// Only [`crate::apply()`] makes one; pruning asks for it.
#[derive(Debug, Clone)]
pub struct Applied {
    pub(crate) plan: Digest,
    pub(crate) written: Vec<ObjectRef>,
    pub(crate) live: BTreeMap<Key, Live>,
    pub(crate) parents: Parents,
}

/// What identifies an object whatever version it is written in, see [`ObjectRef::key`].
pub(crate) type Key = (GroupKind, Option<String>, String);

/// Which live object stands for a rendered one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its uid.
    pub uid: String,
    /// Its generation as the server answered the write; `None` if nothing was written, or if its kind has no
    /// generations. A controller that has observed it has seen this run's change.
    pub generation: Option<i64>,
}

/// What [`crate::prune()`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Objects that were deleted.
    pub deleted: Vec<ObjectRef>,
    /// Volumes that outlive the claims that went.
    pub retained: Vec<RetainedVolume>,
    /// Objects that were gone already.
    pub absent: Vec<ObjectRef>,
    /// Objects whose name another object has taken since the plan; that one was left alone.
    pub replaced: Vec<ObjectRef>,
    /// Objects for whose deletion the evidence no longer holds.
    pub kept: Vec<Kept>,
    /// Objects that were deleted but are still there, held by finalizers.
    pub terminating: Vec<ObjectRef>,
    /// Objects that were not deleted because those in `terminating` may need them to go: an operator for its
    /// resources. The next run prunes them.
    pub postponed: Vec<ObjectRef>,
}

/// An object that was to be pruned and was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The object.
    pub object: ObjectRef,
    /// Which evidence is missing.
    pub reason: String,
    /// Whether it still carries the label of its set, and so stays in the set's inventory.
    pub(crate) member: bool,
}

impl Applied {
    /// Returns the objects that were written, in the order of the answers.
    pub fn written(&self) -> &[ObjectRef] {
        &self.written
    }

    /// Returns how many objects were written.
    pub fn changed(&self) -> usize {
        self.written.len()
    }

    /// Says whether this run wrote an object.
    pub fn has_written(&self, object: &ObjectRef) -> bool {
        self.written.iter().any(|written| written.key() == object.key())
    }

    /// Returns the live object that stands for a rendered one; every rendered object has one.
    pub fn live(&self, object: &ObjectRef) -> Option<&Live> {
        self.live.get(&key(object))
    }

    pub(crate) fn uids(&self) -> BTreeSet<&str> {
        self.live.values().map(|live| live.uid.as_str()).collect()
    }
}

impl Pruned {
    /// Says whether everything that was to go is gone, or was left alone for good reason.
    pub fn is_complete(&self) -> bool {
        self.terminating.is_empty() && self.postponed.is_empty()
    }
}

pub(crate) fn key(object: &ObjectRef) -> Key {
    (object.kind.clone(), object.namespace.clone(), object.name.clone())
}
