//! What of a plan is new, compared with the effects that somebody has seen.

use windlass_model::{Action, Digest, Plan};

/// How many fields of an action are named.
const FIELDS: usize = 3;

/// Returns one line for each action of a plan that has an effect which is not among these. They must be sorted, as in
/// [`Plan::effects`]; with none, every action that writes has a line.
pub fn beyond(plan: &Plan, effects: &[Digest]) -> Vec<String> {
    let is_new = |action: &&Action| {
        let mut own = std::iter::once(action.effect()).chain(action.migration_effect());
        action.operation.writes()
            && own.any(|effect| effects.binary_search(&Digest::of_json(&effect)).is_err())
    };
    plan.actions.iter().filter(is_new).map(describe).collect()
}

/// Describes an action in one line: what, which object, which fields.
fn describe(action: &Action) -> String {
    let mut line = format!("{} {}", action.operation.word(), action.object);
    let fields: Vec<String> =
        action.delta.iter().take(FIELDS).map(|change| change.path.to_string()).collect();
    if !fields.is_empty() {
        line = format!("{line}: {}", fields.join(", "));
    }
    match action.delta.len().saturating_sub(FIELDS) {
        0 => line,
        rest => format!("{line} and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use windlass_model::{Operation, Risk};

    use super::*;
    use crate::samples::{action, migrating, plan, update};

    #[test]
    fn only_what_nobody_has_seen_is_new() {
        let check = |seen: Vec<Action>, now: Vec<Action>, want: &[&str]| {
            assert_eq!(beyond(&plan(now), &plan(seen).effects()), want);
        };
        let goes = || action(Operation::Prune, "ConfigMap", "old", Risk::Deletion);
        let change = |replicas| update("Deployment.apps", "web", replicas);
        check(vec![goes(), change(2)], vec![change(2)], &[]);
        check(vec![change(2)], vec![goes(), change(2)], &["prune ConfigMap shop/old"]);
        check(vec![change(2)], vec![change(3)], &["update Deployment.apps shop/web: data.n, spec.replicas"]);
        check(vec![], vec![action(Operation::NoOp, "ConfigMap", "a", Risk::None)], &[]);
        // Whose fields move is an effect of its own.
        check(
            vec![migrating(change(2))],
            vec![change(2)],
            &["update Deployment.apps shop/web: data.n, spec.replicas"],
        );
    }
}
