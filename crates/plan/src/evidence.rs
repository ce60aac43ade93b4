//! The evidence that a live object may be deleted. All of it must be there.

use std::collections::BTreeSet;

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{ApplySet, Object, PART_OF, Rendering, membership_doubt};

use crate::{Candidate, ObjectKey, Observation};

/// What the rendering holds: under which names, and as which live objects.
pub(crate) struct Rendered {
    keys: BTreeSet<ObjectKey>,
    uids: BTreeSet<String>,
    entries: BTreeSet<String>,
}

impl Rendered {
    pub(crate) fn new(rendering: &Rendering, observation: &Observation) -> Self {
        let references = || rendering.objects().map(|(_, object)| object.reference());
        let live = observation.objects.values().filter_map(|asked| asked.live.as_ref()?.uid());
        Self {
            keys: references().map(ObjectKey::from).collect(),
            uids: live.map(str::to_owned).collect(),
            entries: references().map(windlass_model::ObjectRef::inventory_entry).collect(),
        }
    }

    /// Says whether some unit renders the object, under this name or, where an API group has an alias, as the same live
    /// object under another (cli-utils issue 613).
    pub(crate) fn contains(&self, object: &Object) -> bool {
        self.keys.contains(&ObjectKey::from(object.reference()))
            || object.uid().is_some_and(|uid| self.uids.contains(uid))
    }

    /// Says whether some unit renders an object under this name.
    pub(crate) fn has(&self, key: &ObjectKey) -> bool {
        self.keys.contains(key)
    }

    /// Says whether some unit renders the object of an inventory entry.
    pub(crate) fn has_entry(&self, entry: &str) -> bool {
        self.entries.contains(entry)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.keys.iter()
    }
}

/// Returns the set whose label an object carries.
pub(crate) fn set_of<'a>(object: &Object, sets: &'a [ApplySet]) -> Option<&'a ApplySet> {
    let label = object.label(PART_OF)?;
    sets.iter().find(|set| set.id() == label)
}

/// Returns which evidence for deleting a candidate is lacking, or `None` if it is complete.
pub(crate) fn lacking(candidate: &Candidate, observation: &Observation) -> Option<String> {
    let object = &candidate.object;
    if object.is_terminating() {
        return Some("it is already being deleted".to_owned());
    }
    let Some(set) = set_of(object, &observation.sets) else {
        return Some("it carries the label of no set of this environment".to_owned());
    };
    if let Some(doubt) = membership_doubt(object, set, FIELD_MANAGER) {
        return Some(doubt.to_string());
    }
    if let Some(owner) = observation.inventories.owners.get(&ObjectKey::from(object.reference())) {
        return Some(format!("{owner} delivers it too, as its inventory says"));
    }
    if let Some((kind, reason)) = observation.inventories.unlisted.iter().next() {
        return Some(format!("what objects of the kind `{kind}` deliver could not be listed: {reason}"));
    }
    (!candidate.prunable)
        .then(|| format!("objects of the kind `{}` cannot be deleted", object.reference().kind))
}
