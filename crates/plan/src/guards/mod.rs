//! Why a plan may not be carried out although every single object could be.

mod budget;
mod in_use;
mod permission;
mod protected;
mod sets;

use windlass_model::{Action, Operation, Refusal};

use crate::scene::Scene;

/// Judges the deletions of a plan.
pub(crate) fn refusals(scene: &Scene<'_>, removals: &[Action]) -> Vec<Refusal> {
    let (prunes, kept): (Vec<&Action>, Vec<&Action>) =
        removals.iter().partition(|action| action.operation == Operation::Prune);
    let mut refusals = sets::foreign(scene);
    refusals.extend(sets::incomplete(scene));
    refusals.extend(sets::gone(scene, &prunes));
    refusals.extend(sets::empty(scene, &prunes));
    refusals.extend(protected::refusals(scene, &prunes));
    refusals.extend(in_use::namespaces(scene, &prunes, &kept));
    refusals.extend(in_use::definitions(scene, &prunes));
    refusals.extend(budget::refusal(scene, &prunes));
    refusals
}
