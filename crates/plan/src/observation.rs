//! What the cluster said: the planner's only source besides the rendering and the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use windlass_cluster::{Failure, Silence};
use windlass_model::{ApplySet, Claims, Conflict, GroupKind, Migration, Object, ObjectRef, Owner, UnitName};

use crate::{ObjectKey, PodAnswer, Recollection, Trial};

/// Everything that was read before planning. Built by [`crate::observe()`], or by hand in tests.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// The sets of the environment whose parents could be read.
    pub sets: Vec<ApplySet>,
    /// Their parents; `None` where there is no environment.
    pub parents: Option<Vec<Object>>,
    /// Parents that Windlass must not touch: another tool's, or edited by hand.
    pub unreadable: Vec<UnreadableParent>,
    /// For every rendered object: the live one and what the server says to the change.
    pub objects: BTreeMap<ObjectKey, Asked>,
    /// For every workload whose pod template is new or changes: what the server says to a pod made from it. The pod
    /// is tried out where the workload was, which may be a stand-in namespace.
    pub pods: BTreeMap<ObjectKey, PodAnswer>,
    /// Live objects that carry the label of one of the sets and are not rendered under their name.
    pub candidates: Vec<Candidate>,
    /// Members that a set records, that no unit renders, and that exist without their label.
    pub strays: Vec<(UnitName, ObjectKey)>,
    /// Kinds of the sets whose members could not be listed, each with the reason.
    pub unlisted: BTreeMap<GroupKind, String>,
    /// API groups that are served by something that does not answer.
    pub stale_groups: BTreeSet<String>,
    /// Where ids of sets of other environments and tools come from: the parents that were found for them.
    pub foreign_parents: BTreeMap<String, String>,
    /// What other delivery tools record of what they deliver.
    pub inventories: Inventories,
    /// For every CustomResourceDefinition among the candidates: what it defines and what exists of it.
    pub definitions: BTreeMap<ObjectKey, Definition>,
    /// By kind whose definition is rendered, live, and changes: the objects that exist, or why they could not be listed.
    pub customs: BTreeMap<GroupKind, Result<Vec<Object>, String>>,
    /// By namespace that may go: what can hold data in it, whoever made it, or why that could not be read.
    pub residents: BTreeMap<String, Result<BTreeSet<ObjectRef>, String>>,
    /// PersistentVolumes by name: those of claims that may go.
    pub volumes: BTreeMap<String, Object>,
    /// PersistentVolumeClaims in namespaces that may go, or of StatefulSets that may go.
    pub claims: Claims,
    /// What descends from objects that may go: pods, claims, StatefulSets; or why that could not be found out.
    pub descendants: BTreeMap<ObjectKey, Result<Vec<Object>, String>>,
    /// What was found of the descendants of those of which not all could be found out.
    pub known_descendants: BTreeMap<ObjectKey, Vec<Object>>,
    /// StorageClasses by name; read only if claims change or claim templates are refused.
    pub classes: BTreeMap<String, Object>,
    /// Pods that use what may go now, or why that could not be looked at. Those of a revision that this very
    /// commit replaces are among them: they keep nothing, but are looked at again when it is deleted.
    pub users: BTreeMap<ObjectKey, Result<BTreeSet<String>, String>>,
    /// By Service that may go: which webhooks, conversions and APIs of the server need it, or why that cannot be told.
    pub callers: BTreeMap<ObjectKey, Result<BTreeSet<ObjectRef>, String>>,
    /// Services that rendered webhooks call, that no unit renders, and that do not exist.
    pub absent_backends: BTreeSet<ObjectKey>,
    /// Services that are to convert the objects of a definition that changes, and that cannot answer now.
    pub silent_converters: BTreeMap<ObjectKey, Silence>,
    /// Namespaces of rendered objects that are being deleted.
    pub namespaces: BTreeMap<String, Object>,
    /// What became of the memory of earlier answers.
    pub recollection: Recollection,
    /// Whether the server was asked nothing: every answer is foretold.
    pub read_only: bool,
}

impl Observation {
    /// Returns what is known to descend from an object.
    pub(crate) fn descendants_of(&self, key: &ObjectKey) -> &[Object] {
        let all = self.descendants.get(key).and_then(|found| found.as_ref().ok());
        all.or_else(|| self.known_descendants.get(key)).map_or(&[], Vec::as_slice)
    }
}

/// What the inventories of other delivery tools say about rendered objects and candidates.
#[derive(Debug, Clone, Default)]
pub struct Inventories {
    /// Who else delivers an object, whether it carries a mark or not.
    pub owners: BTreeMap<ObjectKey, Owner>,
    /// Kinds of inventories that could not be listed, each with the reason.
    pub unlisted: BTreeMap<GroupKind, String>,
}

/// A parent that Windlass must not touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableParent {
    /// The parent's name and what is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// One rendered object: the live one and what the server says to the change.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The live object, if there is one.
    pub live: Option<Object>,
    /// Fields with other values that other managers own: the reason why `answer` was asked for with force.
    pub conflicts: Vec<Conflict>,
    /// What the server says.
    pub answer: Ask,
    /// The ownership that has to move first; then `answer` is about what is after it.
    pub moving: Option<Moving>,
}

/// Ownership that has to move before an object is applied.
#[derive(Debug, Clone)]
pub struct Moving {
    /// What moves.
    pub migration: Migration,
    /// Whether Windlass merged manifest and live object itself, since the server refuses to do so before the migration.
    pub merged_here: bool,
}

impl Asked {
    /// Returns the namespace in which the object was tried out, if its own does not exist yet.
    pub(crate) fn stand_in(&self) -> Option<&str> {
        match &self.answer {
            Ask::NamespaceMissing(trial) => trial.made_in(),
            _ => None,
        }
    }

    /// Returns the same with folded objects. An answer that changes nothing becomes the live object: one copy does.
    #[must_use]
    pub(crate) fn folded(self) -> Self {
        let live = self.live.as_ref().map(Object::folded);
        let answer = match self.answer {
            Ask::Answered(Reply { object, warnings }) => {
                let same = live
                    .as_ref()
                    .filter(|_| self.live.as_ref().is_some_and(|was| was.holds_the_same(&object)));
                Ask::Answered(Reply { object: same.cloned().unwrap_or_else(|| object.folded()), warnings })
            }
            answer => answer,
        };
        Self { live, answer, ..self }
    }

    /// Takes an answer that was given without conflicts and migration.
    pub fn without_conflicts(live: Option<Object>, answer: Ask) -> Self {
        Self { live, conflicts: Vec::new(), answer, moving: None }
    }
}

/// How asking for one object ended. Its `Debug` form leaves the server's words out: they can repeat Secret values.
#[derive(Clone)]
pub enum Ask {
    /// The server answered the dry-run.
    Answered(Reply),
    /// The server refuses the object.
    Refused(Failure),
    /// The server does not serve the kind in this version.
    NotServed {
        /// Whether the kind's group is served by something that does not answer.
        stale: bool,
    },
    /// The namespace does not exist; the object may have been tried out in another one.
    NamespaceMissing(Trial),
    /// The live object could not be read, or there was no answer that can be used.
    Failed(String),
}

/// The object as it would be.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The object.
    pub object: Object,
    /// What the server warned of.
    pub warnings: Vec<String>,
}

/// A live object that may have to be deleted.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The object.
    pub object: Object,
    /// Whether its kind can be listed and deleted at all.
    pub prunable: bool,
    /// What the server says to its deletion.
    pub removal: Removal,
}

/// What the server says to a deletion. Its `Debug` form leaves the server's words out.
#[derive(Clone)]
pub enum Removal {
    /// It was not asked: other evidence already speaks against the deletion.
    NotAsked,
    /// It would delete the object.
    Accepted,
    /// It refuses.
    Refused(Failure),
    /// There was no answer that can be used.
    Failed(String),
}

/// What a CustomResourceDefinition defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The kind.
    pub kind: GroupKind,
    /// The objects of the kind, or why they could not be listed.
    pub objects: Result<Vec<ObjectKey>, String>,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(reply) => write!(f, "Answered({:?})", reply.object),
            Self::Refused(failure) => write!(f, "Refused({} {})", failure.code, failure.reason),
            Self::NotServed { stale } => write!(f, "NotServed(stale: {stale})"),
            Self::NamespaceMissing(_) => f.write_str("NamespaceMissing"),
            Self::Failed(reason) => write!(f, "Failed({reason})"),
        }
    }
}

impl fmt::Debug for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => f.write_str("NotAsked"),
            Self::Accepted => f.write_str("Accepted"),
            Self::Refused(failure) => write!(f, "Refused({} {})", failure.code, failure.reason),
            Self::Failed(reason) => write!(f, "Failed({reason})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_what_the_server_said_about_a_secret() {
        let failure = Failure::parse(500, b".data.k: expected string, got hunter2", None);
        let shown = format!("{:?} {:?}", Ask::Refused(failure.clone()), Removal::Refused(failure));
        assert_eq!(shown, "Refused(500 ) Refused(500 )");
    }
}
