//! The guard `webhook-backend`: what answers for a webhook must be there before the webhook.
//!
//! A webhook configuration is written only once the Service that it calls has a ready endpoint, and no later unit is
//! written before. What a later unit brings would be waited for in vain.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::{Action, Object, ObjectRef, Refusal, Unit, UnitName, needed_services, webhook_backends};

use super::some;
use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{ObjectKey, template};

/// Refuses webhooks whose Service, or whose Service's pods, come with a later unit and are not there yet.
pub(super) fn refusals(scene: &Scene<'_>) -> Vec<Refusal> {
    let late = |(position, object, backend): (usize, &Object, ObjectRef)| {
        let (what, unit) = late(scene, position, &backend)?;
        Some(Guard::WebhookBackend.refuses(
            format!(
                "{} calls {backend}, and {what} comes with the later unit `{unit}`: it would be waited for in vain",
                object.reference()
            ),
            format!(
                "move the webhook configuration into the unit `{unit}` or a later one, or the Service and its pods into an earlier one"
            ),
        ))
    };
    called(scene).filter_map(late).collect()
}

const CALLED: &str = "delete what names the Service first, or with it; a configuration that an operator has made for itself goes by `kubectl delete`";
const UNREAD: &str = "let the identity list it: kubectl apply -f pipeline/rbac/";

/// Refuses the deletion of a Service that the API server goes on calling: it would refuse whatever it asks a webhook about,
/// could not convert what is stored, or not tell what else it serves.
pub(super) fn deleted(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let going: BTreeSet<ObjectKey> = prunes.iter().map(|action| ObjectKey::from(&action.object)).collect();
    let refusal = |action: &&Action| {
        let service = ObjectKey::from(&action.object);
        let (why, hint) = match scene.observation.callers.get(&service)? {
            Ok(callers) => {
                let callers: BTreeSet<String> = callers
                    .iter()
                    .filter(|caller| !going.contains(&ObjectKey::from(*caller)))
                    .filter(|caller| still_needs(scene, caller, &service))
                    .map(ToString::to_string)
                    .collect();
                let why = format!("the API server calls it for what stays: {}", some(&callers));
                (!callers.is_empty()).then_some((why, CALLED))?
            }
            Err(reason) => (format!("whether the API server calls it could not be read: {reason}"), UNREAD),
        };
        Some(Guard::WebhookBackend.refuses(format!("{} would be deleted, and {why}", action.object), hint))
    };
    prunes.iter().filter_map(refusal).collect()
}

/// Says whether a caller needs the Service once everything is applied.
fn still_needs(scene: &Scene<'_>, caller: &ObjectRef, service: &ObjectKey) -> bool {
    let desired = scene.desired(&ObjectKey::from(caller));
    desired.is_none_or(|desired| {
        needed_services(desired).iter().any(|needed| ObjectKey::from(needed) == *service)
    })
}

/// Tells of webhooks whose Service nobody delivers and nobody has made so far.
pub(crate) fn warnings(scene: &Scene<'_>) -> Vec<String> {
    let absent = |backend: &ObjectRef| scene.observation.absent_backends.contains(&ObjectKey::from(backend));
    let called = called(scene).filter(|(.., backend)| absent(backend));
    let tell = |(_, object, backend): (usize, &Object, ObjectRef)| {
        format!(
            "{} calls {backend}, which does not exist and which no unit renders: a delivery waits for it as long as `timeouts.rollout` says, and then fails",
            object.reference()
        )
    };
    called.map(tell).collect()
}

/// Returns the Services that webhooks call which would be written, each with the position of the webhook's unit.
fn called<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = (usize, &'a Object, ObjectRef)> {
    let units = scene.inputs.rendering.units.iter().enumerate();
    let objects =
        units.flat_map(|(position, unit)| unit.objects.iter().map(move |object| (position, object)));
    objects
        .flat_map(|(position, object)| {
            webhook_backends(object).into_iter().map(move |backend| (position, object, backend))
        })
        .filter(|(_, object, _)| scene.would_change(&ObjectKey::from(object.reference())))
}

/// Returns what comes too late for a webhook of the unit at `position`, and its unit.
fn late<'a>(
    scene: &'a Scene<'_>,
    position: usize,
    backend: &ObjectRef,
) -> Option<(&'a ObjectRef, &'a UnitName)> {
    let (earlier, later) = scene.inputs.rendering.units.split_at_checked(position + 1)?;
    let key = ObjectKey::from(backend);
    let mut services = later.iter().flat_map(objects_of);
    let is_backend = |(_, object): &(&UnitName, &Object)| ObjectKey::from(object.reference()) == key;
    if let Some((unit, service)) = services.find(is_backend) {
        return (!scene.is_live(&key)).then_some((service.reference(), unit));
    }
    let service = scene.desired(&key)?;
    let selected = |(_, object): &(&UnitName, &Object)| selects(service, object);
    if earlier.iter().flat_map(objects_of).any(|found| selected(&found)) {
        return None;
    }
    let (unit, workload) = later.iter().flat_map(objects_of).find(selected)?;
    (!scene.is_live(&ObjectKey::from(workload.reference()))).then_some((workload.reference(), unit))
}

pub(super) fn objects_of(unit: &Unit) -> impl Iterator<Item = (&UnitName, &Object)> {
    unit.objects.iter().map(|object| (&unit.name, object))
}

/// Says whether a Service sends to the pods of a workload.
pub(super) fn selects(service: &Object, workload: &Object) -> bool {
    let selector = service.body().pointer("/spec/selector").and_then(Value::as_object);
    let labels = template::of(workload).map(|template| &template["metadata"]["labels"]);
    let (Some(selector), Some(labels)) = (selector, labels) else { return false };
    service.reference().namespace == workload.reference().namespace
        && !selector.is_empty()
        && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}
