//! How a change is made by hand that the server refuses on a live object.

mod command;
mod row;
mod special;
mod stateful_set;

use windlass_model::{Action, Problem, Recipe, is_custom_kind};

use crate::overlay::overlay;
use crate::scene::Scene;
use crate::{ObjectKey, kinds};

/// Adds the recipe to an action that is refused because fields cannot change.
pub(crate) fn add(scene: &Scene<'_>, action: &mut Action) {
    if !matches!(action.problem, Some(Problem::Immutable { .. })) {
        return;
    }
    let made = of(scene, action);
    if let Some(Problem::Immutable { recipe, .. }) = &mut action.problem {
        *recipe = made;
    }
}

fn of(scene: &Scene<'_>, action: &Action) -> Option<Recipe> {
    let (key, kind) = (ObjectKey::from(&action.object), &action.object.kind);
    let live = scene.observation.objects.get(&key)?.live.as_ref()?;
    let after = || Some(live.with_body(overlay(live.body(), scene.desired(&key)?.body())));
    if kinds::is_stateful_set(kind) {
        Some(stateful_set::of(live, &after()?, &scene.observation.classes))
    } else if kinds::is_claim(kind) {
        Some(special::of_claim(live))
    } else if kinds::is_definition(kind) {
        Some(special::of_definition(scene, live))
    } else if kind.is("", "PersistentVolume") {
        Some(special::of_volume(live))
    } else if kind.is("", "Service") {
        special::of_service(live)
    } else if is_custom_kind(kind) {
        Some(special::of_custom(live))
    } else {
        row::of(&action.object)
    }
}
