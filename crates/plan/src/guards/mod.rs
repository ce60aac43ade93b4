//! Why a plan may not be carried out although every single object could be.

mod backends;
mod budget;
mod conversion;
mod definitions;
mod in_use;
mod permission;
mod protected;
mod sets;

use windlass_model::{Action, ObjectRef, Operation, Refusal};
use windlass_settings::DeletionPermission;

use crate::scene::Scene;

pub(crate) use backends::warnings as of_backends;
pub(crate) use definitions::judge as of_definitions;
pub(crate) use in_use::some;
use permission::Permission;
pub(crate) use permission::Permissions;

/// Returns the permission that counts today for deleting an object.
pub(crate) fn permission<'a>(scene: &Scene<'a>, object: &ObjectRef) -> Option<&'a DeletionPermission> {
    match scene.permissions.find(&object.kind.to_string(), object.namespace.as_deref(), &object.name) {
        Permission::Given(permission) => Some(permission),
        Permission::Lacking(_) => None,
    }
}

/// Judges the deletions of a plan, and what stands in the way of the whole.
pub(crate) fn refusals(scene: &Scene<'_>, removals: &[Action]) -> Vec<Refusal> {
    let (prunes, kept): (Vec<&Action>, Vec<&Action>) =
        removals.iter().partition(|action| action.operation == Operation::Prune);
    let mut refusals = sets::foreign(scene);
    refusals.extend(sets::incomplete(scene));
    refusals.extend(sets::gone(scene, &prunes));
    refusals.extend(sets::empty(scene, &prunes));
    refusals.extend(protected::refusals(scene, &prunes));
    refusals.extend(in_use::namespaces(scene, &prunes, &kept));
    refusals.extend(in_use::residents(scene, &prunes));
    refusals.extend(in_use::unknown_residents(scene, &prunes));
    refusals.extend(in_use::definitions(scene, &prunes));
    refusals.extend(budget::refusal(scene, &prunes));
    refusals.extend(backends::refusals(scene));
    refusals.extend(backends::deleted(scene, &prunes));
    refusals
}
