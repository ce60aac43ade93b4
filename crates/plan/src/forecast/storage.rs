//! What is possible with a claim that is there: growing it.

use std::collections::BTreeMap;

use windlass_model::{Action, Object, Problem, quantity_bytes, readable_bytes};

use super::{note, text};
use crate::growth::Classes;
use crate::overlay::overlay;
use crate::scene::Scene;
use crate::{Ask, Asked, ObjectKey, kinds};

const REQUEST: &str = "/spec/resources/requests/storage";
const CLASS: &str = "/spec/storageClassName";

/// Says whether explaining needs the StorageClasses: a claim changes, or a StatefulSet is refused.
pub(crate) fn asks_for_classes(objects: &BTreeMap<ObjectKey, Asked>) -> bool {
    objects.iter().any(|(key, asked)| {
        let refused = matches!(asked.answer, Ask::Refused(_));
        let changes = || match (&asked.live, &asked.answer) {
            (Some(live), Ask::Answered(reply)) => text(live, REQUEST) != text(&reply.object, REQUEST),
            (live, _) => live.is_some() && refused,
        };
        kinds::is_claim(&key.kind) && changes()
            || kinds::is_stateful_set(&key.kind) && refused && asked.live.is_some()
    })
}

/// Adds to the action on a claim what is possible; corrects what the server calls a missing right although it is the class
/// that does not allow growth.
pub(crate) fn explain(scene: &Scene<'_>, action: &mut Action) {
    if !kinds::is_claim(&action.object.kind) {
        return;
    }
    let key = ObjectKey::from(&action.object);
    let Some(live) = scene.observation.objects.get(&key).and_then(|asked| asked.live.as_ref()) else {
        return;
    };
    let Some(desired) = scene.desired(&key) else { return };
    let after = live.with_body(overlay(live.body(), desired.body()));
    of_claim(action, live, &after, &Classes(&scene.observation.classes));
}

fn of_claim(action: &mut Action, live: &Object, after: &Object, classes: &Classes<'_>) {
    let request = |object: &Object| text(object, REQUEST).and_then(quantity_bytes);
    let (Some(was), Some(will)) = (request(live), request(after)) else { return };
    if will > was {
        let (possible, why) = classes.growth(text(live, CLASS));
        let change = format!("grows from {} to {}", readable_bytes(was), readable_bytes(will));
        if !possible && action.problem.is_some() {
            action.problem = Some(Problem::Other { message: format!("the claim cannot grow: {why}") });
        } else {
            action.forecasts.push(note(format!(
                "{change}: {why}; the file system grows while it is mounted where the driver can, else when the pod starts again"
            )));
        }
    } else if will < was {
        action.forecasts.push(note(format!(
            "a claim never shrinks ({} to {})",
            readable_bytes(was),
            readable_bytes(will)
        )));
    }
}
