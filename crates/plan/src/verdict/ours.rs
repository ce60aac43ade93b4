//! Whose a live object is.

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{Forecast, Object, Owner, PART_OF, Refusal, Tool, UnitName, other_owner};
use windlass_settings::{DeliveryTool, TakeoverPermission};

use super::{Case, note};
use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{ObjectKey, ownership};

/// Says whether an earlier run applied the object as a member of one of our sets.
pub(super) fn is_ours(scene: &Scene<'_>, live: &Object) -> bool {
    let labelled = live.label(PART_OF).and_then(|id| scene.unit_of(id)).is_some();
    ownership::applied(live).is_some() && (labelled || !scene.has_sets())
}

/// Returns the unit that the object moves from, if it belongs to another one.
pub(super) fn moves_from<'a>(case: &Case<'a>, live: &Object) -> Option<&'a UnitName> {
    case.scene.unit_of(live.label(PART_OF)?).filter(|unit| **unit != case.unit.name)
}

/// Refuses an object that another set or another delivery tool owns, or that two units render.
pub(super) fn refusal(case: &Case<'_>) -> Option<Refusal> {
    let reference = case.object.reference();
    if let Some(other) = rendered_elsewhere(case) {
        return Some(Guard::TwoOwners.refuses(
            format!("the units `{other}` and `{}` both hold {reference}", case.unit.name),
            "remove it from one of them",
        ));
    }
    let live = case.asked.live.as_ref()?;
    foreign_set(case, live).or_else(|| foreign_tool(case, live))
}

/// Tells what changes hands because the environment file allows it.
pub(super) fn takeovers(case: &Case<'_>) -> Vec<Forecast> {
    let Some(live) = &case.asked.live else { return Vec::new() };
    let from_set = foreign_parent(case, live)
        .and_then(|parent| Some((format!("the ApplySet {parent}"), set_permission(case, &parent)?)));
    let from_tool =
        rival(case, live).and_then(|owner| Some((owner.to_string(), tool_permission(case, &owner)?)));
    let tell = |(owner, permission): (String, &TakeoverPermission)| {
        let TakeoverPermission { until, reason, .. } = permission;
        note(format!(
            "taken over from {owner} (allowed until {until}: {reason}); until that tool gives it up, both write it"
        ))
    };
    from_set.into_iter().chain(from_tool).map(tell).collect()
}

fn rendered_elsewhere<'a>(case: &Case<'a>) -> Option<&'a UnitName> {
    let holder = case.scene.holder(&ObjectKey::from(case.object.reference()))?;
    (*holder != case.unit.name).then_some(holder)
}

/// Names the parent of the set of somebody else that the object belongs to: `Secret shop/theirs`, or the set's id
/// where the parent was not found.
fn foreign_parent(case: &Case<'_>, live: &Object) -> Option<String> {
    let label = live.label(PART_OF)?;
    if !case.scene.has_sets() || case.scene.unit_of(label).is_some() {
        return None;
    }
    Some(match case.scene.observation.foreign_parents.get(label) {
        Some(parent) => format!("`{parent}`"),
        None => format!("`{label}`, whose parent was not found"),
    })
}

fn foreign_set(case: &Case<'_>, live: &Object) -> Option<Refusal> {
    let parent = foreign_parent(case, live)?;
    if set_permission(case, &parent).is_some() {
        return None;
    }
    let environment = case.scene.inputs.environment.as_ref()?;
    Some(Guard::TwoOwners.refuses(
        format!(
            "{} belongs to the ApplySet {parent}; the unit `{}` (parent `windlass.{environment}.{}` in `{}`) wants it too",
            case.object.reference(),
            case.unit.name,
            case.unit.name,
            case.scene.inputs.record_namespace,
        ),
        "take the object out of the other set: deliver the other set without it using its own tool in a way that does not prune, then remove the label applyset.kubernetes.io/part-of; or name the parent under `guards.allowTakeovers` in the environment file",
    ))
}

/// Returns the tool that delivers a live object too, by its marks or its inventory. Helm's marks outlive it, so that they
/// count only until the object is ours; every other tool goes on writing what it marks.
fn rival(case: &Case<'_>, live: &Object) -> Option<Owner> {
    let counts = |owner: &Owner| owner.tool != Tool::Helm || !is_ours(case.scene, live);
    other_owner(live, FIELD_MANAGER).filter(counts).or_else(|| recorded(case, live).cloned())
}

fn recorded<'a>(case: &Case<'a>, live: &Object) -> Option<&'a Owner> {
    case.scene.observation.inventories.owners.get(&ObjectKey::from(live.reference()))
}

/// Says how the other tool gives the object up.
fn way_out(case: &Case<'_>, live: &Object) -> &'static str {
    if recorded(case, live).is_some() {
        "take the object out of the other tool without deleting it (its inventory lists it)"
    } else {
        "take the object out of the other tool without deleting it and remove that tool's labels and annotations"
    }
}

fn foreign_tool(case: &Case<'_>, live: &Object) -> Option<Refusal> {
    let owner = rival(case, live)?;
    if tool_permission(case, &owner).is_some() {
        return None;
    }
    Some(Guard::TwoOwners.refuses(
        format!("{} belongs to {owner}: two tools would overwrite each other", case.object.reference()),
        format!(
            "{}, or remove it from this repository; to take over what is meant to change hands, name it under `guards.allowTakeovers` in the environment file",
            way_out(case, live)
        ),
    ))
}

fn tool_permission<'a>(case: &Case<'a>, owner: &Owner) -> Option<&'a TakeoverPermission> {
    permissions(case).find(|permission| is_same(permission.tool, owner.tool) && permission.name == owner.name)
}

/// A parent is named without its kind: `shop/theirs`.
fn set_permission<'a>(case: &Case<'a>, parent: &str) -> Option<&'a TakeoverPermission> {
    let names = |name: &str| parent.split(['`', ' ']).any(|word| word == name);
    permissions(case)
        .find(|permission| permission.tool == DeliveryTool::ApplySet && names(permission.name.as_str()))
}

fn permissions<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a TakeoverPermission> {
    let now = case.scene.inputs.now;
    case.scene.inputs.guards.allow_takeovers.iter().filter(move |permission| permission.counts_at(now))
}

fn is_same(tool: DeliveryTool, other: Tool) -> bool {
    match tool {
        DeliveryTool::Helm => other == Tool::Helm,
        DeliveryTool::Flux => other == Tool::Flux,
        DeliveryTool::ArgoCd => other == Tool::ArgoCd,
        DeliveryTool::Kapp => other == Tool::Kapp,
        DeliveryTool::ConfigSync => other == Tool::ConfigSync,
        DeliveryTool::ApplySet => false,
    }
}
