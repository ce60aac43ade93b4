//! What no unit renders any more: deleted where all evidence is there, kept and named where not.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use windlass_model::{
    Action, Bodies, Forecast, Object, Operation, Preview, Problem, Risk, Shown, UnitName, apply_rank,
};

use crate::evidence::{lacking, set_of};
use crate::scene::Scene;
use crate::verdict::live_id;
use crate::{Candidate, ObjectKey, Removal, forecast, guards, kinds, problem, retain, risk};

/// Returns the deletions and what is kept, in the order of execution: the last unit first, in a unit the last rank
/// first. Sets whose unit is gone come before all others.
pub(crate) fn actions(scene: &Scene<'_>) -> Vec<Action> {
    let candidates = &scene.observation.candidates;
    let unrendered = candidates.iter().filter(|candidate| !scene.rendered.contains(&candidate.object));
    let mut actions: Vec<Action> = unrendered.filter_map(|candidate| action(scene, candidate)).collect();
    take_residents(scene, &mut actions);
    actions.sort_by_cached_key(|action| {
        let position = position(scene, &action.unit).unwrap_or(usize::MAX);
        (
            Reverse(position),
            action.unit.clone(),
            Reverse(apply_rank(&action.object.kind)),
            action.object.clone(),
        )
    });
    actions
}

/// Names, in each deletion that takes namespaces along, those namespaces, and what can hold data in them and is not
/// deleted by itself before.
fn take_residents(scene: &Scene<'_>, actions: &mut [Action]) {
    let going: BTreeSet<ObjectKey> = actions
        .iter()
        .filter(|action| action.operation == Operation::Prune)
        .map(|action| ObjectKey::from(&action.object))
        .collect();
    for action in actions.iter_mut().filter(|action| action.operation == Operation::Prune) {
        let descendants = scene.observation.descendants_of(&ObjectKey::from(&action.object)).iter();
        let owned = descendants.map(windlass_model::Object::reference);
        action.takes = owned.filter(|owned| kinds::is_namespace(&owned.kind)).cloned().collect();
        let residents = action
            .namespaces()
            .filter_map(|name| scene.observation.residents.get(name)?.as_ref().ok())
            .flatten()
            .filter(|resident| !going.contains(&ObjectKey::from(*resident)));
        let residents: Vec<windlass_model::ObjectRef> = residents.cloned().collect();
        action.takes.extend(residents);
    }
}

fn position(scene: &Scene<'_>, unit: &UnitName) -> Option<usize> {
    scene.inputs.rendering.units.iter().position(|known| known.name == *unit)
}

fn action(scene: &Scene<'_>, candidate: &Candidate) -> Option<Action> {
    let object = &candidate.object;
    let set = set_of(object, &scene.observation.sets)?;
    let action = Action {
        live: live_id(object),
        bodies: Bodies { before: Some(Shown::of(object)), after: None },
        ..Action::new(set.unit.clone(), object.reference().clone(), Operation::Keep)
    };
    Some(match lacking(candidate, scene.observation) {
        Some(reason) => keep(action, &reason, object),
        None => prune(scene, candidate, action),
    })
}

/// An object that has an owner is the doing of an operator that copies labels, and one that is being deleted
/// goes by itself; any other that only looks like ours is worth somebody's attention.
fn keep(action: Action, reason: &str, object: &Object) -> Action {
    let text = format!("looks like ours, is not to be deleted: {reason}");
    let owners = object.body().pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    let explained = object.is_terminating() || owners.is_some_and(|owners| !owners.is_empty());
    let risk = if explained { Risk::None } else { Risk::Routine };
    Action { forecasts: vec![Forecast::Note { text }], risk, ..action }
}

fn prune(scene: &Scene<'_>, candidate: &Candidate, action: Action) -> Action {
    let (preview, problem) = removal(candidate);
    let mut action = Action { operation: Operation::Prune, preview, problem, ..action };
    if let Some(successor) = scene.generated.successor(&action.object) {
        let text = format!("replaced by {}", successor.reference().name);
        action.forecasts = vec![Forecast::Note { text }];
        action.risk = Risk::Deletion;
    } else {
        action.retains = retain::volumes(scene, &candidate.object);
        action.destroys = forecast::destroyed(&candidate.object, scene.observation, &action.retains);
        action.uncounted = forecast::is_uncounted(&candidate.object, scene.observation);
        action.forecasts = forecast::of_removal(&candidate.object, scene.observation, &action.retains);
        action.risk = risk::of(action.operation, &action.object.kind, &action.forecasts);
        action.problem =
            action.problem.or_else(|| retain::doubt(scene, &candidate.object).map(problem::other));
    }
    match scene.observation.users.get(&ObjectKey::from(&action.object)) {
        Some(Ok(pods)) if !pods.is_empty() => {
            let text = format!(
                "deleted once nothing uses it; now these do: {} (what is still used in the end stays until a later run)",
                guards::some(pods)
            );
            action.forecasts.push(Forecast::Note { text });
        }
        Some(Err(reason)) => action.warnings.push(format!(
            "whether something uses it could not be looked at, and is looked at again when it is deleted: {reason}"
        )),
        _ => {}
    }
    if let Some(permission) = guards::permission(scene, &action.object) {
        let text = format!("allowed until {}: {}", permission.until, permission.reason);
        action.forecasts.push(Forecast::Note { text });
    }
    action
}

fn removal(candidate: &Candidate) -> (Preview, Option<Problem>) {
    match &candidate.removal {
        Removal::Accepted => (Preview::Server, None),
        Removal::NotAsked => (Preview::Not("the deletion was not tried out".to_owned()), None),
        Removal::Failed(reason) => (Preview::Not(reason.clone()), Some(problem::other(reason.clone()))),
        Removal::Refused(failure) => {
            (Preview::Server, Some(problem::of_failure(&candidate.object.reference().kind, failure)))
        }
    }
}
