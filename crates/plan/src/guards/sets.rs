//! Guards over whole sets.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Action, ObjectRef, Refusal, UnitName};

use super::permission::Permission;
use crate::refusal::Guard;
use crate::scene::Scene;

/// `foreign-set`: a parent that another tool manages, or that someone edited.
pub(super) fn foreign(scene: &Scene<'_>) -> Vec<Refusal> {
    let unreadable = scene.observation.unreadable.iter();
    unreadable.map(|parent| Guard::ForeignSet.refuses(&parent.message, &parent.hint)).collect()
}

/// `incomplete-list`: a deletion could be overlooked. That takes a kind that could not be listed and a recorded member
/// of it that no unit renders; a broken API service that holds nothing of ours stops nothing
/// (kapp issue 12).
pub(super) fn incomplete(scene: &Scene<'_>) -> Vec<Refusal> {
    let unlisted = scene.observation.unlisted.iter();
    unlisted
        .filter_map(|(kind, reason)| {
            let is_kind = |entry: &str| ObjectRef::key_of_entry(entry).is_some_and(|(known, ..)| known == *kind);
            let members = scene.observation.sets.iter().flat_map(|set| &set.members);
            let overlooked: Vec<&str> = members
                .filter(|entry| is_kind(entry) && !scene.rendered.has_entry(entry))
                .filter_map(|entry| Some(entry.split_once('/')?.1))
                .collect();
            let unlisted = format!("objects of the kind `{kind}` could not be listed");
            let message = if !overlooked.is_empty() {
                let names = overlooked.join(", ");
                format!("{unlisted}, and no unit renders these any more: {names}; {reason}")
            } else if is_conversion(reason) {
                format!("{unlisted}, because they cannot be converted between their versions: {reason}")
            } else {
                return None;
            };
            Some(Guard::IncompleteList.refuses(
                message,
                "repair the API service, or the webhook that converts the kind, or grant the right to list it, then plan again",
            ))
        })
        .collect()
}

/// Says whether a list failed because of a definition's own webhook: then no object of the kind can be relied on, those
/// that are rendered included.
fn is_conversion(reason: &str) -> bool {
    reason.contains("conversion webhook for")
}

/// `unit-gone`: a unit that is not rendered any more would be deleted as a whole.
pub(super) fn gone(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let rendered: BTreeSet<&UnitName> = scene.inputs.rendering.units.iter().map(|unit| &unit.name).collect();
    let lost = by_unit(prunes).into_iter().filter(|(unit, _)| !rendered.contains(unit));
    lost.filter_map(|(unit, count)| {
        let Permission::Lacking(why) = scene.permissions.find("Unit", None, unit.as_str()) else {
            return None;
        };
        Some(Guard::UnitGone.refuses(
            format!("the unit `{unit}` is not rendered any more; {count} objects would be deleted{why}"),
            format!(
                "put the unit back; to remove it for good, write kind `Unit`, name `{unit}`, a last day and a reason {}",
                scene.permissions.place()
            ),
        ))
    })
    .collect()
}

/// `empty-unit`: a unit that renders nothing would be deleted as a whole (kubernetes issue 40635).
pub(super) fn empty(scene: &Scene<'_>, prunes: &[&Action]) -> Vec<Refusal> {
    let counts = by_unit(prunes);
    let empty = scene.inputs.rendering.units.iter().filter(|unit| unit.objects.is_empty());
    empty
        .filter_map(|unit| {
            let count = counts.get(&unit.name)?;
            Some(Guard::EmptyUnit.refuses(
                format!("the unit `{}` renders no object; {count} objects would be deleted", unit.name),
                format!(
                    "check the directory `{}`; to empty the unit on purpose, remove it and name it {}",
                    unit.path,
                    scene.permissions.place()
                ),
            ))
        })
        .collect()
}

fn by_unit<'a>(prunes: &[&'a Action]) -> BTreeMap<&'a UnitName, usize> {
    let mut counts = BTreeMap::new();
    for action in prunes {
        *counts.entry(&action.unit).or_default() += 1;
    }
    counts
}
