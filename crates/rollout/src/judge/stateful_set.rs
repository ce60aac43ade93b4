//! StatefulSets.

use std::cmp::Reverse;

use windlass_model::Object;

use super::refused::refusal;
use super::{Observed, UNOBSERVED, is_observed};
use crate::fields::{number, text};
use crate::pods::{self, REVISION};
use crate::{Ailment, Cause, Grace, Verdict};

/// Demands what kubectl does not: available replicas, no surplus pod, and every pod beyond the partition
/// at the update revision by its own label. Equal revisions in the status prove nothing: after a template
/// is reverted they are equal while a pod of the broken revision is still stuck (measured on 1.36).
pub(super) fn judge(object: &Object, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    if !is_observed(object) {
        return Verdict::waiting(UNOBSERVED);
    }
    let set = Set::read(object, observed);
    match set.missing() {
        None => Verdict::Ready { notes: set.notes() },
        Some(missing) => Verdict::ailing_or_waiting(set.ailments(observed, grace), missing),
    }
}

/// The numbers of a StatefulSet, and its pods by ordinal.
struct Set<'a> {
    object: &'a Object,
    replicas: i64,
    /// Ordinals below it keep their revision.
    partition: i64,
    on_delete: bool,
    update_revision: &'a str,
    /// By ordinal, counted from 0 wherever the set's numbering starts.
    pods: Vec<(i64, &'a Object)>,
}

impl<'a> Set<'a> {
    fn read(object: &'a Object, observed: &Observed<'a>) -> Self {
        let body = object.body();
        let start = number(body, "/spec/ordinals/start");
        let mut pods: Vec<(i64, &Object)> =
            observed.pods.iter().map(|pod| (ordinal(pod) - start, *pod)).collect();
        pods.sort_by_key(|(ordinal, pod)| (*ordinal, Reverse(pods::is_ready(pod))));
        Self {
            object,
            replicas: body.pointer("/spec/replicas").and_then(serde_json::Value::as_i64).unwrap_or(1),
            partition: number(body, "/spec/updateStrategy/rollingUpdate/partition"),
            on_delete: body["spec"]["updateStrategy"]["type"] == "OnDelete",
            update_revision: text(body, "/status/updateRevision"),
            pods,
        }
    }

    fn status(&self, field: &str) -> i64 {
        number(self.object.body(), &format!("/status/{field}"))
    }

    fn is_updated(&self, pod: &Object) -> bool {
        pod.label(REVISION) == Some(self.update_revision)
    }

    /// Returns what is missing for the set to be ready.
    fn missing(&self) -> Option<String> {
        let replicas = self.replicas;
        if !self.on_delete
            && let Some(missing) = self.not_updated()
        {
            return Some(missing);
        }
        let surplus =
            self.status("replicas").max(i64::try_from(self.pods.len()).unwrap_or(i64::MAX)) - replicas;
        if surplus > 0 {
            return Some(format!("{surplus} surplus pods are still there"));
        }
        let unready = self.pods.iter().find(|(_, pod)| !pods::is_ready(pod));
        let ready = self.status("readyReplicas");
        if ready < replicas {
            let which = unready.map(|(_, pod)| format!("; pod {} is not", pod.reference().name));
            return Some(format!("{ready} of {replicas} replicas are ready{}", which.unwrap_or_default()));
        }
        let available = self.status("availableReplicas");
        if available < replicas {
            return Some(format!("{available} of {replicas} replicas have been ready for long enough"));
        }
        unready.map(|(_, pod)| format!("pod {} is not ready", pod.reference().name))
    }

    fn not_updated(&self) -> Option<String> {
        let want = (self.replicas - self.partition).max(0);
        let updated =
            self.pods.iter().filter(|(_, pod)| self.is_updated(pod) && !pod.is_terminating()).count();
        let updated = i64::try_from(updated).unwrap_or(i64::MAX).min(self.status("updatedReplicas"));
        if updated < want {
            return Some(format!("{updated} of {want} replicas are updated"));
        }
        let left =
            self.pods.iter().find(|(ordinal, pod)| *ordinal >= self.partition && !self.is_updated(pod));
        if let Some((_, pod)) = left {
            return Some(format!("pod {} is not updated", pod.reference().name));
        }
        let current = text(self.object.body(), "/status/currentRevision");
        let settled = self.partition > 0 || self.replicas == 0 || current == self.update_revision;
        (!settled).then(|| "the update is not finished".to_owned())
    }

    fn notes(&self) -> Vec<String> {
        let left: Vec<&str> = self
            .pods
            .iter()
            .filter(|(_, pod)| !self.is_updated(pod))
            .map(|(_, pod)| pod.reference().name.as_str())
            .collect();
        if left.is_empty() {
            return Vec::new();
        }
        let why = if self.on_delete {
            "the update strategy is OnDelete".to_owned()
        } else {
            format!("the partition is {}", self.partition)
        };
        vec![format!("pods are not updated, because {why}: {}", left.join(", "))]
    }

    fn ailments(&self, observed: &Observed<'_>, grace: &Grace) -> Vec<Ailment> {
        let mut found = Vec::new();
        for (ordinal, pod) in &self.pods {
            let blocks = !self.is_updated(pod) && *ordinal >= self.partition && !self.on_delete;
            let past = || if blocks { pods::past_failure(pod, grace) } else { None };
            let Some(ailment) = pods::ailment(pod, grace).or_else(past) else { continue };
            found.push(if blocks { blocked(pod, &ailment) } else { ailment });
        }
        let present = i64::try_from(self.pods.len()).unwrap_or(i64::MAX);
        found.extend(refusal(observed).filter(|_| present < self.replicas));
        found
    }
}

/// A pod of an earlier revision that can never become ready keeps the controller from replacing it, so
/// that even the right template changes nothing (kubernetes issues 67250 and 137409).
fn blocked(pod: &Object, ailment: &Ailment) -> Ailment {
    let name = &pod.reference().name;
    let namespace = pod.reference().namespace.as_deref().unwrap_or_default();
    let reason = format!(
        "the pod {namespace}/{name} of an earlier revision blocks the rollout ({}); deleting exactly this pod \
         frees it: kubectl delete pod {name} --namespace {namespace}",
        ailment.reason
    );
    Ailment { cause: Cause::Blocked, reason, pod: Some(name.clone()) }
}

fn ordinal(pod: &Object) -> i64 {
    pod.reference().name.rsplit_once('-').and_then(|(_, digits)| digits.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{check, object, pod, target, waiting};
    use super::*;

    /// Three replicas at revision `r2`; `spec` and `status` are merged over.
    fn set(spec: Value, status: Value) -> Object {
        let mut body = json!({
            "spec": {"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}},
            "status": {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
                "updatedReplicas": 3, "currentRevision": "r2", "updateRevision": "r2"},
        });
        for (key, extra) in [("spec", spec), ("status", status)] {
            for (field, value) in extra.as_object().unwrap() {
                body[key][field] = value.clone();
            }
        }
        object("apps/v1", "StatefulSet", body)
    }

    fn partition(ordinal: i64) -> Value {
        json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": ordinal}}})
    }

    fn with(live: &Object, pods: &[Object], want: &str) {
        let observed = Observed { object: Some(live), pods: pods.iter().collect(), ..Observed::default() };
        check(&target(live), &observed, want);
    }

    fn revisions(revisions: [&str; 3]) -> Vec<Object> {
        let pod = |(ordinal, revision)| pod(&format!("x-{ordinal}"), revision, true, json!({}));
        revisions.into_iter().enumerate().map(pod).collect()
    }

    #[test]
    fn counts() {
        let all = revisions(["r2", "r2", "r2"]);
        let check = |status: Value, want: &str| with(&set(json!({}), status), &all, want);
        check(json!({}), "ready");
        check(json!({"observedGeneration": 0}), "waiting: its controller has not seen the change yet");
        check(json!({"updatedReplicas": 1}), "waiting: 1 of 3 replicas are updated");
        check(json!({"readyReplicas": 2}), "waiting: 2 of 3 replicas are ready");
        check(json!({"availableReplicas": 2}), "waiting: 2 of 3 replicas have been ready for long enough");
        check(json!({"currentRevision": "r1"}), "waiting: the update is not finished");
        let surplus = [all.clone(), vec![pod("x-3", "r2", true, json!({}))]].concat();
        with(&set(json!({}), json!({})), &surplus, "waiting: 1 surplus pods are still there");
        let none = json!({"replicas": 0, "readyReplicas": 0, "availableReplicas": 0, "updatedReplicas": 0});
        with(&set(json!({"replicas": 0}), none), &[], "ready");
    }

    #[test]
    fn equal_revisions_prove_nothing() {
        let stuck = revisions(["r2", "r2", "r1"]);
        with(&set(json!({}), json!({})), &stuck, "waiting: 2 of 3 replicas are updated");
    }

    #[test]
    fn a_pod_that_is_going_is_no_replica() {
        let mut pods = revisions(["r2", "r2", "r2"]);
        pods[2] = pod("x-2", "r2", true, json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}));
        with(&set(json!({}), json!({})), &pods, "waiting: 2 of 3 replicas are updated");
    }

    #[test]
    fn the_partition_keeps_lower_ordinals() {
        let live = set(partition(2), json!({"updatedReplicas": 1, "currentRevision": "r1"}));
        let note = "ready: pods are not updated, because the partition is 2: x-0, x-1";
        with(&live, &revisions(["r1", "r1", "r2"]), note);
        with(&live, &revisions(["r2", "r1", "r1"]), "waiting: pod x-2 is not updated");
        let beyond = set(partition(9), json!({"updatedReplicas": 0, "currentRevision": "r1"}));
        let note = "ready: pods are not updated, because the partition is 9: x-0, x-1, x-2";
        with(&beyond, &revisions(["r1", "r1", "r1"]), note);
    }

    #[test]
    fn numbering_may_start_anywhere() {
        let mut spec = partition(1);
        spec["ordinals"] = json!({"start": 5});
        let pods: Vec<Object> = [("x-5", "r1"), ("x-6", "r2"), ("x-7", "r2")]
            .into_iter()
            .map(|(name, revision)| pod(name, revision, true, json!({})))
            .collect();
        let live = set(spec, json!({"updatedReplicas": 2, "currentRevision": "r1"}));
        with(&live, &pods, "ready: pods are not updated, because the partition is 1: x-5");
    }

    #[test]
    fn on_delete_is_no_error() {
        let spec = json!({"updateStrategy": {"type": "OnDelete"}});
        let live = set(spec, json!({"updatedReplicas": 1, "currentRevision": "r1"}));
        let note = "ready: pods are not updated, because the update strategy is OnDelete: x-0, x-1";
        with(&live, &revisions(["r1", "r1", "r2"]), note);
    }

    /// Under both policies: where the server has `MaxUnavailableStatefulSet`, Parallel sets are stuck as well (kubernetes
    /// issue 137409).
    #[test]
    fn the_pod_that_blocks_is_named() {
        for policy in ["OrderedReady", "Parallel"] {
            names_what_blocks(policy);
        }
    }

    fn names_what_blocks(policy: &str) {
        let spec = json!({"podManagementPolicy": policy});
        let live = set(spec, json!({"readyReplicas": 2, "updatedReplicas": 2}));
        let mut pods = revisions(["r2", "r2", "r1"]);
        pods[2] = pod("x-2", "r1", false, waiting("ImagePullBackOff", 0));
        let want = "Blocked: the pod shop/x-2 of an earlier revision blocks the rollout (pod x-2, container main: \
            ImagePullBackOff: words); deleting exactly this pod frees it: kubectl delete pod x-2 --namespace shop";
        with(&live, &pods, want);
        // A pod that only takes its time is waited for.
        pods[2] = pod("x-2", "r1", false, json!({}));
        with(&live, &pods, "waiting: 2 of 3 replicas are updated");
        // The new revision's own failure is not a blockage.
        pods[2] = pod("x-2", "r2", false, waiting("ImagePullBackOff", 0));
        with(&live, &pods, "Image: pod x-2, container main: ImagePullBackOff: words");
    }

    #[test]
    fn a_crash_loop_needs_restarts() {
        let live = set(json!({}), json!({"readyReplicas": 2}));
        let mut pods = revisions(["r2", "r2", "r2"]);
        pods[2] = pod("x-2", "r2", false, waiting("CrashLoopBackOff", 2));
        with(&live, &pods, "waiting: 2 of 3 replicas are ready; pod x-2 is not");
        pods[2] = pod("x-2", "r2", false, waiting("CrashLoopBackOff", 3));
        with(&live, &pods, "CrashLoop: pod x-2, container main: failed and restarted 3 times");
    }

    #[test]
    fn refused_pods_are_told() {
        let live = set(json!({}), json!({"replicas": 0, "readyReplicas": 0, "updatedReplicas": 0}));
        let event = object(
            "v1",
            "Event",
            json!({"message": "exceeded quota", "lastTimestamp": "2026-01-01T00:00:10Z"}),
        );
        let observed = Observed { object: Some(&live), refusals: vec![&event], ..Observed::default() };
        check(&target(&live), &observed, "Refused: pods are refused: exceeded quota");
    }
}
