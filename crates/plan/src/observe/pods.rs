//! Trying out the pods that changed workloads would make.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Failure};
use windlass_model::{GroupKind, Object, ObjectRef};

use super::{Reader, tolerate};
use crate::{Asked, ObjectKey, PodAnswer, pods};

/// Sends a dry-run creation of one pod for each workload whose template is new or changes: workloads that stay as they
/// are cost nothing.
pub(super) async fn preview(
    reader: &Reader<'_>,
    objects: &BTreeMap<ObjectKey, Asked>,
) -> Result<BTreeMap<ObjectKey, PodAnswer>, ClusterError> {
    if reader.cluster.is_read_only() {
        return Ok(BTreeMap::new());
    }
    let pods: Vec<(ObjectKey, Object)> = objects
        .iter()
        .filter_map(|(key, asked)| Some((key.clone(), pods::pod_of(pods::changed(asked)?)?)))
        .collect();
    stream::iter(pods)
        .map(|(key, pod)| async move { Ok((key, ask(reader, &pod).await?)) })
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await
}

async fn ask(reader: &Reader<'_>, pod: &Object) -> Result<PodAnswer, ClusterError> {
    Ok(match tolerate(reader.cluster.try_create(pod).await)? {
        Ok(answer) => PodAnswer::Admitted { warnings: answer.warnings },
        Err(ClusterError::Api { failure, .. }) => {
            let asks_for_sender = asks_for_sender(reader, &failure).await?;
            PodAnswer::Refused { failure: *failure, asks_for_sender }
        }
        Err(error) => PodAnswer::Failed(error.to_string()),
    })
}

/// Reads the policy that denied a pod and looks for what only the sender of a request decides.
async fn asks_for_sender(reader: &Reader<'_>, failure: &Failure) -> Result<bool, ClusterError> {
    let Some(name) = pods::denying_policy(failure) else { return Ok(false) };
    let policy = ObjectRef {
        kind: GroupKind::new("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        version: "v1".to_owned(),
        namespace: None,
        name: name.to_owned(),
    };
    let found = tolerate(reader.cluster.get(&policy).await)?;
    let speaks_of_sender = |policy: Object| {
        let spec = policy.body()["spec"].to_string();
        spec.contains("userInfo") || spec.contains("authorizer")
    };
    Ok(found.ok().flatten().is_some_and(speaks_of_sender))
}
