//! What a new generated ConfigMap or Secret says differently than the one whose place it takes.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Action, Object, Operation, Replacement};

use crate::ObjectKey;
use crate::scene::Scene;

/// Compares each new object with the newest one that goes because of it.
pub(crate) fn compare(scene: &Scene<'_>, actions: &mut [Action]) {
    let goes = |action: &&Action| action.operation == Operation::Prune;
    let pruned: BTreeSet<ObjectKey> =
        actions.iter().filter(goes).map(|action| ObjectKey::from(&action.object)).collect();
    let mut replaced: BTreeMap<ObjectKey, (&Object, &Object)> = BTreeMap::new();
    for candidate in &scene.observation.candidates {
        let old = &candidate.object;
        let Some(new) = scene.generated.successor(old.reference()) else { continue };
        if pruned.contains(&ObjectKey::from(old.reference())) {
            let pair = replaced.entry(ObjectKey::from(new.reference())).or_insert((old, new));
            if made(old) > made(pair.0) {
                *pair = (old, new);
            }
        }
    }
    for action in actions.iter_mut().filter(|action| action.operation == Operation::Create) {
        let pair = replaced.get(&ObjectKey::from(&action.object));
        action.replaces = pair.map(|(old, new)| Replacement::between(old, new));
    }
}

/// Returns when an object was made: times of one form compare as texts.
fn made(object: &Object) -> Option<&str> {
    object.body().pointer("/metadata/creationTimestamp")?.as_str()
}
