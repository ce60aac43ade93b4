//! Frees a rollout that a pod of an earlier revision blocks.
//!
//! An OrderedReady StatefulSet whose pod never becomes ready stays on that pod whatever template is applied
//! next, the old one included (kubernetes issue 67250): re-running the previous commit alone rolls nothing
//! back. What a person does then is delete exactly that pod. Where the environment file allows it, this does
//! the same, under the same conditions that a careful person would check.

use std::collections::BTreeSet;

use windlass_cluster::{Cluster, ClusterError, Deleted, Propagation};
use windlass_model::{Event, GroupKind, Level, Mutation, MutationResult, Object, ObjectRef, Sink};

use crate::fields::{number, text};
use crate::pods::{self, REVISION};

/// Deletes stuck pods, each at most once. One that changed while it was looked at is tried again.
#[derive(Debug, Default)]
pub(crate) struct Rescue {
    tried: BTreeSet<String>,
}

impl Rescue {
    /// Deletes the pod `pod` of a StatefulSet, if it still is what blocks it. Says whether it did.
    pub(crate) async fn free(
        &mut self,
        cluster: &Cluster,
        sink: &dyn Sink,
        set: &ObjectRef,
        pod: &str,
    ) -> Result<bool, ClusterError> {
        let resource = cluster.resource(&GroupKind::new("", "Pod"), "v1").await?;
        let Some(set) = cluster.get(set).await? else { return Ok(false) };
        let Some(pod) = cluster.get_as(&resource, set.reference().namespace.as_deref(), pod).await? else {
            return Ok(false);
        };
        let uid = pod.uid().unwrap_or_default().to_owned();
        if !is_stuck(&set, &pod) || !self.tried.insert(uid.clone()) {
            return Ok(false);
        }
        let mutation =
            Mutation { verb: "delete".to_owned(), object: pod.reference().clone(), uid: Some(uid) };
        sink.emit(Event::Sending { mutation: mutation.clone() });
        // With uid and version: a pod that has become ready meanwhile is another version and stays.
        let answer = cluster.delete(&resource, &pod, Propagation::Background, false).await;
        let result = match &answer {
            Ok(_) => MutationResult::Done,
            Err(error) if error.may_have_landed() => MutationResult::Unknown { message: error.to_string() },
            Err(error) => MutationResult::Failed { message: error.to_string() },
        };
        sink.emit(Event::Answered { mutation, result });
        if answer.as_ref().is_err_and(is_conflict) {
            // A pod in a crash loop changes every few seconds.
            self.tried.remove(pod.uid().unwrap_or_default());
            return Ok(false);
        }
        let freed = answer? == Deleted::Accepted;
        if freed {
            let text = format!(
                "deleted the stuck pod {} of revision {}: it kept {} from rolling out",
                pod.reference().name,
                pod.label(REVISION).unwrap_or("unknown"),
                set.reference(),
            );
            sink.emit(Event::Message { level: Level::Warning, text });
        }
        Ok(freed)
    }
}

fn is_conflict(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| failure.code == 409 && failure.denier().is_none())
}

/// Says whether the pod is one that its set's controller would replace if only it became ready: the set has
/// taken notice of the template, the pod is not ready, not on its way out, and not of the revision that the set
/// is rolling out.
fn is_stuck(set: &Object, pod: &Object) -> bool {
    let body = set.body();
    let observed = number(body, "/status/observedGeneration") >= set.generation().unwrap_or(i64::MAX);
    let revision = text(body, "/status/updateRevision");
    let owned = pod
        .body()
        .pointer("/metadata/ownerReferences")
        .and_then(serde_json::Value::as_array)
        .is_some_and(|owners| owners.iter().any(|owner| owner["uid"].as_str() == set.uid()));
    let outdated = !revision.is_empty() && pod.label(REVISION).is_some_and(|own| own != revision);
    observed && owned && outdated && !pods::is_ready(pod) && !pod.is_terminating()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(body: Value) -> Object {
        Object::new(body, None).unwrap()
    }

    #[test]
    fn only_an_outdated_unready_pod_of_an_observed_set_is_stuck() {
        let check = |change: &dyn Fn(&mut Value, &mut Value), want: bool| {
            let mut set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
                "metadata": {"name": "db", "namespace": "a", "uid": "u", "generation": 3},
                "status": {"observedGeneration": 3, "updateRevision": "r1"}});
            let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-2", "namespace": "a",
                "uid": "p", "labels": {REVISION: "r2"}, "ownerReferences": [{"uid": "u"}]}, "status": {}});
            change(&mut set, &mut pod);
            assert_eq!(is_stuck(&object(set.clone()), &object(pod.clone())), want, "{set} {pod}");
        };
        check(&|_, _| {}, true);
        check(&|set, _| set["status"]["observedGeneration"] = json!(2), false);
        check(&|set, _| set["status"]["updateRevision"] = json!("r2"), false);
        check(&|set, _| set["status"] = json!({"observedGeneration": 3}), false);
        check(&|_, pod| pod["metadata"]["ownerReferences"] = json!([{"uid": "other"}]), false);
        check(&|_, pod| pod["metadata"]["labels"] = json!({}), false);
        check(&|_, pod| pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"), false);
        check(&|_, pod| pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]), false);
    }
}
