//! Trying out the pods that changed workloads would make.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Denier, Failure, Selector};
use windlass_model::{GroupKind, Object, ObjectRef};

use super::stand_in::{in_namespace, refuses_everywhere};
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
    let samples: Vec<(ObjectKey, Sample<'_>)> =
        objects.iter().filter_map(|(key, asked)| Some((key.clone(), Sample::of(asked)?))).collect();
    stream::iter(samples)
        .map(|(key, sample)| async move { Ok((key, ask(reader, &sample).await?)) })
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await
}

/// A pod to try out.
struct Sample<'a> {
    pod: Object,
    /// The namespace in which it is tried out, if its own does not exist yet.
    stand_in: Option<&'a str>,
}

impl<'a> Sample<'a> {
    fn of(asked: &'a Asked) -> Option<Self> {
        let pod = pods::pod_of(pods::changed(asked)?)?;
        let stand_in = asked.stand_in();
        let pod = match stand_in {
            Some(namespace) => in_namespace(&pod, namespace)?,
            None => pod,
        };
        Some(Self { pod, stand_in })
    }
}

async fn ask(reader: &Reader<'_>, sample: &Sample<'_>) -> Result<PodAnswer, ClusterError> {
    Ok(match tolerate(reader.cluster.try_create(&sample.pod).await)? {
        Ok(answer) => PodAnswer::Admitted { warnings: answer.warnings },
        Err(ClusterError::Api { failure, .. }) => {
            let asks_for_sender = asks_for_sender(reader, &failure).await?;
            let everywhere = match sample.stand_in {
                Some(stand_in) => holds_everywhere(reader, &failure, stand_in).await?,
                None => false,
            };
            PodAnswer::Refused { failure: *failure, asks_for_sender, everywhere }
        }
        Err(error) => PodAnswer::Failed(error.to_string()),
    })
}

/// Says whether a refusal in the stand-in namespace is one in every namespace. A LimitRange gives pods values of its
/// own: then nobody knows whether a policy means the pod or those.
async fn holds_everywhere(
    reader: &Reader<'_>,
    failure: &Failure,
    stand_in: &str,
) -> Result<bool, ClusterError> {
    Ok(refuses_everywhere(reader, failure).await? && !may_have_limits(reader, stand_in).await?)
}

async fn may_have_limits(reader: &Reader<'_>, namespace: &str) -> Result<bool, ClusterError> {
    let kind = GroupKind::new("", "LimitRange");
    let Ok(resource) = tolerate(reader.cluster.resource(&kind, "v1").await)? else { return Ok(true) };
    let selector = Selector { namespace: Some(namespace), ..Selector::default() };
    let limits = tolerate(reader.cluster.list(&resource, selector).await)?;
    Ok(limits.map_or(true, |listing| !listing.objects.is_empty()))
}

/// Reads the policy that denied a pod and looks for what only the sender of a request decides.
async fn asks_for_sender(reader: &Reader<'_>, failure: &Failure) -> Result<bool, ClusterError> {
    let Some(Denier::Policy { name, .. }) = failure.denier() else { return Ok(false) };
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
