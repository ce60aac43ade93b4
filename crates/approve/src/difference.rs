//! What of a plan is new, compared with the effects that somebody has seen.

use serde_json::Value;
use windlass_model::{Action, Digest, Plan};

/// How many fields of an action are named.
const FIELDS: usize = 3;

/// Returns one line for each action of a plan that has an effect which is not among these, or for each thing that only
/// goes along with it now. They must be sorted, as in [`Plan::effects`]; with none, every action that writes has a line.
pub fn beyond(plan: &Plan, effects: &[Digest]) -> Vec<String> {
    let is_new = |effect: &Value| effects.binary_search(&Digest::of_json(effect)).is_err();
    let lines = |action: &Action| {
        let mut own = std::iter::once(action.effect()).chain(action.migration_effect());
        if own.any(|effect| is_new(&effect)) {
            return vec![describe(action)];
        }
        let losses = action.losses().into_iter().filter(|loss| is_new(&loss.effect));
        losses.map(|loss| format!("{} {} {}", action.operation.word(), action.object, loss.what)).collect()
    };
    plan.actions.iter().filter(|action| action.operation.writes()).flat_map(lines).collect()
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
    use crate::samples::{action, migrating, plan, update, volume};

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

    /// What a deletion was approved to take along is not what it takes along now.
    #[test]
    fn what_a_deletion_takes_along_besides_is_new() {
        let check = |seen: &Action, now: &Action, want: &[&str]| {
            assert_eq!(beyond(&plan(vec![now.clone()]), &plan(vec![seen.clone()]).effects()), want);
        };
        let namespace = action(Operation::Prune, "Namespace", "a", Risk::Deletion);
        let secret = action(Operation::Prune, "Secret", "s", Risk::Deletion).object;
        let full = Action { takes: vec![secret], ..namespace.clone() };
        check(&namespace, &full, &["prune Namespace shop/a takes along Secret shop/s"]);
        check(&full, &namespace, &[]);
        let set = action(Operation::Prune, "StatefulSet.apps", "db", Risk::Data);
        let loses = Action { destroys: vec![volume()], ..set.clone() };
        let line =
            "prune StatefulSet.apps shop/db destroys the volume pv-1 of PersistentVolumeClaim shop/data-db-0";
        check(&set, &loses, &[line]);
        check(&loses, &set, &[]);
        let unknown = Action { uncounted: true, ..set.clone() };
        check(&set, &unknown, &["prune StatefulSet.apps shop/db takes along what could not be counted"]);
        check(&unknown, &set, &[]);
        // A run that was killed between two of them finds fewer volumes to keep.
        let kept = |names: &[&str]| {
            let retains = names.iter().map(|name| windlass_model::RetainedVolume {
                name: (*name).to_owned(),
                uid: format!("uid-{name}"),
                namespace: "shop".to_owned(),
                claim: "data".to_owned(),
                capacity: "1Gi".to_owned(),
                access_modes: Vec::new(),
                storage_class: String::new(),
                volume_mode: "Filesystem".to_owned(),
            });
            Action { retains: retains.collect(), ..set.clone() }
        };
        check(&kept(&["pv-1", "pv-2"]), &kept(&["pv-2"]), &[]);
        let more = "prune StatefulSet.apps shop/db sets the volume pv-2 to Retain";
        check(&kept(&["pv-1"]), &kept(&["pv-1", "pv-2"]), &[more]);
    }
}
