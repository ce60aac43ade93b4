//! Deployments.

use windlass_model::{ManagedEntry, Object, apply_entry};

use super::{Observed, UNOBSERVED, is_observed};
use crate::fields::{condition, controller, number, text, wording};
use crate::{Ailment, Cause, Grace, Target, Verdict, pods};

const REVISION: &str = "deployment.kubernetes.io/revision";

/// As kubectl, but a paused Deployment does not wait for ever, and a deadline that passed before this run
/// is not mistaken for one that passed in it (kubernetes issue 49637).
pub(super) fn judge(target: &Target, object: &Object, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    if !is_observed(object) {
        return Verdict::waiting(UNOBSERVED);
    }
    let body = object.body();
    let status = |field: &str| number(body, &format!("/status/{field}"));
    let want = body.pointer("/spec/replicas").and_then(serde_json::Value::as_i64).unwrap_or(1);
    let (replicas, updated, available) =
        (status("replicas"), status("updatedReplicas"), status("availableReplicas"));
    let paused = body["spec"]["paused"] == true;
    let missing = if paused && available < want {
        format!("it is paused, and {available} of {want} replicas are available")
    } else if paused {
        return Verdict::noted(format!("is paused: {updated} of {want} replicas have the new template"));
    } else if updated < want {
        format!("{updated} of {want} replicas are updated")
    } else if replicas > updated {
        format!("{} old replicas are still there", replicas - updated)
    } else if available < updated {
        format!("{available} of {updated} updated replicas are available")
    } else {
        return Verdict::ready();
    };
    Verdict::ailing_or_waiting(ailments(target, object, observed, grace), missing)
}

fn ailments(target: &Target, object: &Object, observed: &Observed<'_>, grace: &Grace) -> Vec<Ailment> {
    let mut found = pods::ailments(&new_pods(object, observed), grace);
    if let Some(failure) = condition(object, "ReplicaFailure").filter(|c| c["status"] == "True") {
        let reason = format!("pods are refused: {}", text(failure, "/message"));
        found.push(Ailment { cause: Cause::Refused, reason, pod: None });
    }
    let late = |progress: &&serde_json::Value| progress["reason"] == "ProgressDeadlineExceeded";
    if let Some(progress) = condition(object, "Progressing").filter(late) {
        let cause = if target.changed && is_older_than_apply(progress, object) {
            Cause::OldDeadline
        } else {
            Cause::Deadline
        };
        found.push(Ailment { cause, reason: wording(progress), pod: None });
    }
    found
}

/// Returns the pods of the newest template: those of the ReplicaSet with the Deployment's own revision.
fn new_pods<'a>(object: &Object, observed: &Observed<'a>) -> Vec<&'a Object> {
    let revision = object.annotation(REVISION);
    let newest = observed
        .replica_sets
        .iter()
        .find(|set| revision.is_some() && set.annotation(REVISION) == revision)
        .and_then(|set| set.uid());
    let is_new = |pod: &&&Object| newest.is_some() && controller(pod) == newest;
    observed.pods.iter().filter(is_new).copied().collect()
}

/// Compares the condition with the time of the own apply. Both times are the cluster's, to the second, in
/// one form, so that they compare as texts.
fn is_older_than_apply(progress: &serde_json::Value, object: &Object) -> bool {
    let applied = apply_entry(object, windlass_cluster::FIELD_MANAGER).and_then(ManagedEntry::time);
    text(progress, "/lastUpdateTime") < applied.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{check, object, pod, target, waiting};
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn deployment(extra: Value) -> Object {
        let mut base = json!({
            "metadata": {"generation": 2, "annotations": {REVISION: "2"}},
            "spec": {"replicas": 3},
            "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3},
        });
        for (key, value) in extra.as_object().unwrap() {
            for (field, value) in value.as_object().unwrap() {
                base[key][field] = value.clone();
            }
        }
        object("apps/v1", "Deployment", base)
    }

    fn alone(extra: Value, want: &str) {
        let live = deployment(extra);
        check(&target(&live), &Observed { object: Some(&live), ..Observed::default() }, want);
    }

    #[test]
    fn counts() {
        alone(json!({}), "ready");
        alone(
            json!({"status": {"observedGeneration": 1}}),
            "waiting: its controller has not seen the change yet",
        );
        alone(json!({"status": {"updatedReplicas": 1}}), "waiting: 1 of 3 replicas are updated");
        alone(json!({"status": {"replicas": 4}}), "waiting: 1 old replicas are still there");
        alone(json!({"status": {"availableReplicas": 2}}), "waiting: 2 of 3 updated replicas are available");
        let zero = json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "updatedReplicas": 0, "availableReplicas": 0}});
        alone(zero, "ready");
    }

    #[test]
    fn a_paused_deployment_does_not_wait_for_ever() {
        let spec = json!({"replicas": 3, "paused": true});
        let note = "ready: is paused: 0 of 3 replicas have the new template";
        alone(json!({"spec": spec, "status": {"updatedReplicas": 0}}), note);
        let down = "waiting: it is paused, and 1 of 3 replicas are available";
        alone(json!({"spec": spec, "status": {"availableReplicas": 1}}), down);
    }

    #[test]
    fn a_refusal_is_told() {
        let failure = json!([{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]);
        let status = json!({"availableReplicas": 2, "conditions": failure});
        alone(json!({"status": status}), "Refused: pods are refused: exceeded quota");
    }

    #[test]
    fn a_deadline_of_the_last_rollout_is_not_ours() {
        let late = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
            "message": "late", "lastUpdateTime": "2026-01-01T00:00:10Z"}]);
        let applied_at = |time: &str| json!({"managedFields": [{"manager": "windlass", "operation": "Apply", "time": time}]});
        let status = json!({"availableReplicas": 2, "conditions": late});
        let with = |time: &str| json!({"metadata": applied_at(time), "status": status});
        alone(with("2026-01-01T00:00:09Z"), "Deadline: ProgressDeadlineExceeded: late");
        alone(with("2026-01-01T00:00:11Z"), "OldDeadline: ProgressDeadlineExceeded: late");
    }

    #[test]
    fn only_pods_of_the_new_template_count() {
        let live = deployment(json!({"status": {"availableReplicas": 2}}));
        let set = |uid: &str, revision: &str| {
            let metadata = json!({"uid": uid, "annotations": {REVISION: revision}});
            object("apps/v1", "ReplicaSet", json!({"metadata": metadata}))
        };
        let (old, new) = (set("old", "1"), set("new", "2"));
        let of = |owner: &str| {
            let mut extra = waiting("ImagePullBackOff", 0);
            extra["metadata"] = json!({"ownerReferences": [{"controller": true, "uid": owner}]});
            pod("x-1", "", false, extra)
        };
        let (old_pod, new_pod) = (of("old"), of("new"));
        let observed = |pod| Observed {
            object: Some(&live),
            pods: vec![pod],
            replica_sets: vec![&old, &new],
            ..Observed::default()
        };
        let waits = "waiting: 2 of 3 updated replicas are available";
        check(&target(&live), &observed(&old_pod), waits);
        check(&target(&live), &observed(&new_pod), "Image: pod x-1, container main: ImagePullBackOff: words");
    }
}
