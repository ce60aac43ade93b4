//! The guard `prune-budget`: how much one run may delete.

use windlass_model::{Action, Refusal};

use crate::refusal::Guard;
use crate::scene::Scene;

/// Below this many members a share says nothing: one of three is 33 %.
const SHARE_FROM: usize = 10;

pub(super) fn refusal(scene: &Scene<'_>, prunes: &[&Action]) -> Option<Refusal> {
    let budget = scene.inputs.guards.prune_budget;
    let members: usize = scene.observation.sets.iter().map(|set| set.members.len()).sum();
    // A generated object whose next version is delivered is replaced, not lost: a few failed deliveries leave several.
    let count = prunes.iter().filter(|action| scene.generated.successor(&action.object).is_none()).count();
    let message = if count > budget.count {
        format!("{count} objects would be deleted; the budget is {}", budget.count)
    } else if members >= SHARE_FROM && count * 100 > usize::from(budget.percent) * members {
        format!("{count} of {members} objects would be deleted; the budget is {} %", budget.percent)
    } else {
        return None;
    };
    Some(Guard::PruneBudget.refuses(
        message,
        "check that the right directory was rendered; then deliver in smaller steps, or raise `guards.pruneBudget` in the environment file for this delivery",
    ))
}
