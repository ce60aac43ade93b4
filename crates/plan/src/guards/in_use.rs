//! Guards over containers: what lives in a namespace, what exists of a definition.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Action, Refusal};

use super::permission::Permission;
use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{ObjectKey, kinds};

/// How many names a message lists.
const MANY: usize = 5;

/// `namespace-in-use`: a namespace would go and take along what stays (cli-utils issue 274).
pub(super) fn namespaces(scene: &Scene<'_>, prunes: &[&Action], kept: &[&Action]) -> Vec<Refusal> {
    let mut inside: BTreeMap<&str, BTreeSet<String>> =
        prunes.iter().flat_map(|action| action.namespaces()).map(|name| (name, BTreeSet::new())).collect();
    let kept: Vec<ObjectKey> = kept.iter().map(|action| ObjectKey::from(&action.object)).collect();
    for key in scene.rendered.keys().chain(&kept) {
        if let Some(inside) = key.namespace.as_deref().and_then(|namespace| inside.get_mut(namespace)) {
            inside.insert(key.to_string());
        }
    }
    inside.retain(|_, inside| !inside.is_empty());
    let refusals = inside.into_iter().map(|(name, inside)| {
        Guard::NamespaceInUse.refuses(
            format!("the namespace `{name}` would be deleted with what is to stay in it: {}", some(&inside)),
            "keep the namespace, or move the objects out of it first",
        )
    });
    refusals.collect()
}

/// `namespace-in-use` as well: what can hold data in a namespace that goes needs a permission of its own, also
/// where another environment or a person made it.
pub(super) fn residents(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let going: BTreeSet<ObjectKey> = prunes.iter().map(|action| ObjectKey::from(&action.object)).collect();
    let namespaces: BTreeSet<&str> = prunes.iter().flat_map(|action| action.namespaces()).collect();
    namespaces
        .into_iter()
        .filter_map(|name| {
            let message = match scene.observation.residents.get(name) {
                None => return None,
                Some(Err(reason)) => {
                    format!("the namespace `{name}` would be deleted, and what is in it could not be read: {reason}")
                }
                Some(Ok(found)) => {
                    let staying: BTreeSet<String> = found
                        .iter()
                        .map(ObjectKey::from)
                        .filter(|key| !going.contains(key) && !scene.rendered.has(key))
                        .filter(|key| !is_permitted(scene, key))
                        .map(|key| key.to_string())
                        .collect();
                    if staying.is_empty() {
                        return None;
                    }
                    format!("the namespace `{name}` would be deleted, and with it: {}", some(&staying))
                }
            };
            Some(Guard::NamespaceInUse.refuses(
                message,
                format!("move these objects away first, or name each of them {}", scene.permissions.place()),
            ))
        })
        .collect()
}

fn is_permitted(scene: &Scene<'_>, key: &ObjectKey) -> bool {
    let found = scene.permissions.find(&key.kind.to_string(), key.namespace.as_deref(), &key.name);
    matches!(found, Permission::Given(_))
}

/// `incomplete-list` for namespaces: while an API service does not answer, nobody knows what lives in a namespace, and
/// the server deletes none (condition `NamespaceDeletionDiscoveryFailure`): it would hang half deleted.
pub(super) fn unknown_residents(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let stale = &scene.observation.stale_groups;
    if stale.is_empty() {
        return Vec::new();
    }
    let namespaces: BTreeSet<&str> = prunes.iter().flat_map(|action| action.namespaces()).collect();
    namespaces
        .into_iter()
        .map(|name| {
            Guard::IncompleteList.refuses(
                format!(
                    "the namespace `{name}` would be deleted, but the API services of these groups do not answer, so that nobody knows what lives in it: {}",
                    some(stale)
                ),
                "repair the API service, or remove it if it is not needed any more (`kubectl get apiservices`), then plan again",
            )
        })
        .collect()
}

/// `definition-in-use`: a definition would go and take all its objects along.
pub(super) fn definitions(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let going: BTreeSet<ObjectKey> = prunes.iter().map(|action| ObjectKey::from(&action.object)).collect();
    let definitions = going.iter().filter(|key| kinds::is_definition(&key.kind));
    definitions
        .filter_map(|key| {
            let message = match scene.observation.definitions.get(key).map(|definition| &definition.objects) {
                Some(Ok(objects)) => {
                    let staying: BTreeSet<String> = objects
                        .iter()
                        .filter(|object| !going.contains(object))
                        .map(ToString::to_string)
                        .collect();
                    if staying.is_empty() {
                        return None;
                    }
                    format!(
                        "`{}` would be deleted, and with it all of its objects, {} so far: {}",
                        key.name,
                        staying.len(),
                        some(&staying)
                    )
                }
                Some(Err(reason)) => {
                    format!("`{}` would be deleted, and its objects could not be counted: {reason}", key.name)
                }
                None => format!("`{}` would be deleted, and its objects were not counted", key.name),
            };
            Some(
                Guard::DefinitionInUse.refuses(
                    message,
                    "keep the definition until none of its objects is left in any namespace",
                ),
            )
        })
        .collect()
}

/// Lists some names, and how many there are besides.
pub(crate) fn some(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(MANY).map(String::as_str).collect();
    match names.len().saturating_sub(MANY) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
