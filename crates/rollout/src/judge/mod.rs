//! Whether an object is ready, by kind. Pure: everything it looks at is given.
//!
//! The rules are kubectl's where kubectl is right, and stricter where it is known to be wrong: available
//! replicas instead of ready ones, pods counted by the label of their revision, surplus pods, stale
//! conditions.

mod api_service;
mod claim;
mod daemon_set;
mod definition;
mod deployment;
mod job;
mod namespace;
mod pod;
mod refused;
mod service;
mod stateful_set;
#[cfg(test)]
mod testing;

use windlass_model::Object;

use crate::fields::{number, text};
use crate::{Grace, Target, Verdict};

/// What was observed of one target.
#[derive(Debug, Clone, Default)]
pub struct Observed<'a> {
    /// The object; `None` if there is none.
    pub object: Option<&'a Object>,
    /// For objects that were deleted while they were watched: how they looked last.
    pub last_seen: Option<&'a Object>,
    /// The pods that the object controls, for a Deployment through its ReplicaSets; for a claim the pods
    /// that use it.
    pub pods: Vec<&'a Object>,
    /// The ReplicaSets that a Deployment controls.
    pub replica_sets: Vec<&'a Object>,
    /// Events that say that pods of the object, or of its ReplicaSets, could not be created.
    pub refusals: Vec<&'a Object>,
    /// The binding mode of a claim's storage class, if it is known.
    pub binding_mode: Option<&'a str>,
    /// Whether a definition's kind is served.
    pub served: bool,
}

/// Decides whether a target is ready.
pub fn judge(target: &Target, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    let Some(object) = observed.object else {
        return gone(target, observed);
    };
    if target.uid.as_deref().is_some_and(|uid| object.uid() != Some(uid)) {
        return Verdict::failed("was deleted and created again by someone else");
    }
    let is_job = target.object.kind.is("batch", "Job");
    if object.is_terminating() && !(is_job && job::is_complete(object)) {
        return Verdict::failed("is being deleted");
    }
    if object.generation() < target.generation {
        return Verdict::waiting("the change is not visible yet");
    }
    let verdict = by_kind(target, object, observed, grace);
    match verdict {
        Verdict::Ready { mut notes } if target.changed && object.generation() > target.generation => {
            notes.push("was changed again by another writer after this run".to_owned());
            Verdict::Ready { notes }
        }
        verdict => verdict,
    }
}

/// Says whether an object may look ready, and not be, until its pods are looked at: the status of a StatefulSet can
/// say that all is updated while a pod is not, and a claim may wait for its first pod.
pub(crate) fn depends_on_pods(object: &Object) -> bool {
    let kind = &object.reference().kind;
    if kind.is("apps", "StatefulSet") {
        let wanted = object.body().pointer("/spec/replicas").and_then(serde_json::Value::as_i64);
        return wanted != Some(0) || number(object.body(), "/status/replicas") > 0;
    }
    kind.is("", "PersistentVolumeClaim") && text(object.body(), "/status/phase") != "Bound"
}

fn by_kind(target: &Target, object: &Object, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    let kind = &target.object.kind;
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment") => deployment::judge(target, object, observed, grace),
        ("apps", "StatefulSet") => stateful_set::judge(object, observed, grace),
        ("apps", "DaemonSet") => daemon_set::judge(object, observed, grace),
        ("batch", "Job") => job::judge(object, observed, grace),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::judge(object, observed.served),
        ("apiregistration.k8s.io", "APIService") => api_service::judge(object),
        ("", "PersistentVolumeClaim") => claim::judge(object, observed),
        ("", "Namespace") => namespace::judge(object),
        ("", "Pod") => pod::judge(object, grace),
        ("", "Service") => service::judge(object),
        _ => Verdict::ready(),
    }
}

/// A finished Job may be removed by its time to live; everything else has to stay.
fn gone(target: &Target, observed: &Observed<'_>) -> Verdict {
    let complete = |object: &&Object| target.object.kind.is("batch", "Job") && job::is_complete(object);
    match observed.last_seen {
        Some(last) if complete(&last) => Verdict::noted("completed, and was removed after its time to live"),
        _ => Verdict::failed("does not exist: it was deleted by someone else"),
    }
}

/// Says whether the object's controller has seen the specification as it is now.
fn is_observed(object: &Object) -> bool {
    number(object.body(), "/status/observedGeneration") >= object.generation().unwrap_or_default()
}

const UNOBSERVED: &str = "its controller has not seen the change yet";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::testing::{check, object, target};
    use super::*;

    #[test]
    fn a_namesake_is_not_the_object() {
        let live = object("v1", "Namespace", json!({"status": {"phase": "Active"}}));
        let mut target = target(&live);
        target.uid = Some("another".to_owned());
        let observed = Observed { object: Some(&live), ..Observed::default() };
        check(&target, &observed, "failed: was deleted and created again by someone else");
    }

    #[test]
    fn a_stale_read_is_no_verdict() {
        let live =
            object("v1", "Namespace", json!({"metadata": {"generation": 1}, "status": {"phase": "Active"}}));
        let mut target = target(&live);
        target.generation = Some(2);
        let observed = Observed { object: Some(&live), ..Observed::default() };
        check(&target, &observed, "waiting: the change is not visible yet");
    }

    #[test]
    fn another_writer_is_named() {
        let live =
            object("v1", "Namespace", json!({"metadata": {"generation": 3}, "status": {"phase": "Active"}}));
        let mut target = target(&live);
        target.generation = Some(2);
        let observed = Observed { object: Some(&live), ..Observed::default() };
        check(&target, &observed, "ready: was changed again by another writer after this run");
    }

    #[test]
    fn only_sets_with_pods_and_unbound_claims_depend_on_pods() {
        let check = |api_version: &str, kind: &str, body: serde_json::Value, want: bool| {
            assert_eq!(depends_on_pods(&object(api_version, kind, body.clone())), want, "{kind} {body}");
        };
        check("apps/v1", "StatefulSet", json!({}), true);
        check("apps/v1", "StatefulSet", json!({"spec": {"replicas": 3}}), true);
        check("apps/v1", "StatefulSet", json!({"spec": {"replicas": 0}}), false);
        check("apps/v1", "StatefulSet", json!({"spec": {"replicas": 0}, "status": {"replicas": 1}}), true);
        check("apps/v1", "Deployment", json!({"spec": {"replicas": 3}}), false);
        check("v1", "PersistentVolumeClaim", json!({"status": {"phase": "Pending"}}), true);
        check("v1", "PersistentVolumeClaim", json!({"status": {"phase": "Bound"}}), false);
    }

    #[test]
    fn what_is_gone_is_not_ready() {
        let job = object(
            "batch/v1",
            "Job",
            json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}),
        );
        let running = object("batch/v1", "Job", json!({}));
        let gone = |last| Observed { last_seen: last, ..Observed::default() };
        check(&target(&job), &gone(None), "failed: does not exist: it was deleted by someone else");
        check(&target(&job), &gone(Some(&running)), "failed: does not exist: it was deleted by someone else");
        check(&target(&job), &gone(Some(&job)), "ready: completed, and was removed after its time to live");
    }
}
