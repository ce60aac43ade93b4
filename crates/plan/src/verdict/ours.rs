//! Whose a live object is.

use windlass_model::{Object, PART_OF, Refusal, UnitName};

use super::Case;
use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{ObjectKey, owners, ownership};

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
    if is_ours(case.scene, live) {
        return None;
    }
    foreign_set(case, live).or_else(|| {
        let owner = owners::of(live)?;
        Some(Guard::TwoOwners.refuses(
            format!("{reference} belongs to {owner}: two tools would overwrite each other"),
            "take the object out of the other tool without deleting it and remove that tool's labels and annotations, or remove it from this repository",
        ))
    })
}

fn rendered_elsewhere<'a>(case: &Case<'a>) -> Option<&'a UnitName> {
    let holder = case.scene.holder(&ObjectKey::from(case.object.reference()))?;
    (*holder != case.unit.name).then_some(holder)
}

fn foreign_set(case: &Case<'_>, live: &Object) -> Option<Refusal> {
    let label = live.label(PART_OF)?;
    if !case.scene.has_sets() || case.scene.unit_of(label).is_some() {
        return None;
    }
    let parent = match case.scene.observation.foreign_parents.get(label) {
        Some(parent) => format!("`{parent}`"),
        None => format!("`{label}`, whose parent was not found"),
    };
    let environment = case.scene.inputs.environment.as_ref()?;
    Some(Guard::TwoOwners.refuses(
        format!(
            "{} belongs to the ApplySet {parent}; the unit `{}` (parent `windlass.{environment}.{}` in `{}`) wants it too",
            case.object.reference(),
            case.unit.name,
            case.unit.name,
            case.scene.inputs.record_namespace,
        ),
        "take the object out of the other set: deliver the other set without it using its own tool in a way that does not prune, then remove the label applyset.kubernetes.io/part-of",
    ))
}
