//! The guard `protected-kind`: what can hold data goes only with a permission that names it.

use windlass_model::{Action, ObjectRef, Refusal};

use super::permission::Permission;
use crate::kinds;
use crate::refusal::Guard;
use crate::scene::Scene;

pub(super) fn refusals(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    prunes.iter().filter_map(|action| refusal(scene, action)).collect()
}

fn refusal(scene: &Scene<'_>, action: &Action) -> Option<Refusal> {
    let guards = scene.inputs.guards;
    let object = &action.object;
    let kind = object.kind.to_string();
    let protected = kinds::is_protected(&object.kind) || guards.protected_kinds.contains(&kind);
    // A generated Secret whose next version the same commit delivers is superseded, not lost.
    if !protected || scene.generated.successor(object).is_some() {
        return None;
    }
    let Permission::Lacking(why) = scene.permissions.find(&kind, object.namespace.as_deref(), &object.name)
    else {
        return None;
    };
    Some(Guard::ProtectedKind.refuses(
        format!("{object} (unit `{}`) would be deleted, and its kind is protected{why}", action.unit),
        format!(
            "put the object back into the unit `{}`; to delete it for good, add {} the entry `{}`, with a last day and a reason",
            action.unit,
            scene.permissions.place(),
            entry(object)
        ),
    ))
}

/// Returns a permission to be filled in, as it stands in a file.
fn entry(object: &ObjectRef) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let namespace =
        object.namespace.as_ref().map(|name| format!(", namespace: {}", quoted(name))).unwrap_or_default();
    format!(
        "- {{kind: {}{namespace}, name: {}, until: YYYY-MM-DD, reason: WHY}}",
        quoted(&object.kind.to_string()),
        quoted(&object.name)
    )
}
