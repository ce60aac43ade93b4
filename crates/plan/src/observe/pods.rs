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

/// Asks about the pod, and again without what it names and does not exist: the server looks that up before any policy
/// speaks, and it may come with the same commit.
async fn ask(reader: &Reader<'_>, sample: &Sample<'_>) -> Result<PodAnswer, ClusterError> {
    let mut pod = sample.pod.clone();
    let mut missing = Missing::new();
    let failure = loop {
        match tolerate(reader.cluster.try_create(&pod).await)? {
            Ok(answer) => {
                return Ok(given(missing, false, PodAnswer::Admitted { warnings: answer.warnings }));
            }
            Err(ClusterError::Api { failure, .. }) => match without_named(&pod, &failure) {
                Some((named, rest)) => {
                    missing.push(named);
                    pod = rest;
                }
                None => break *failure,
            },
            Err(error) => return Ok(given(missing, false, PodAnswer::Failed(error.to_string()))),
        }
    };
    let policy = policy(reader, &failure).await?;
    let everywhere = match sample.stand_in {
        Some(stand_in) => holds_everywhere(reader, &failure, stand_in).await?,
        None => false,
    };
    let asks_for_sender = policy.as_ref().is_some_and(speaks_of_sender);
    let asks_for_it = may_ask_for(&missing, &failure, policy.as_ref());
    Ok(given(missing, asks_for_it, PodAnswer::Refused { failure, asks_for_sender, everywhere }))
}

/// Kinds and names of what a pod names and does not exist.
type Missing = Vec<(&'static str, String)>;

fn given(missing: Missing, asks_for_it: bool, answer: PodAnswer) -> PodAnswer {
    if missing.is_empty() {
        return answer;
    }
    PodAnswer::Without { missing, asks_for_it, answer: Box::new(answer) }
}

fn without_named(pod: &Object, failure: &Failure) -> Option<((&'static str, String), Object)> {
    let (kind, name) = pods::lacking(failure)?;
    let rest = pods::without(pod, kind, &name)?;
    Some(((kind, name), rest))
}

/// Says whether what denies a pod may look at what was left out of it. What a webhook looks at nobody knows.
fn may_ask_for(missing: &Missing, failure: &Failure, policy: Option<&Object>) -> bool {
    match failure.denier() {
        Some(Denier::Webhook(_)) => true,
        Some(Denier::Policy { .. }) => {
            let looks = |policy: &Object| missing.iter().any(|(kind, _)| pods::looks_at(policy, kind));
            policy.is_none_or(looks)
        }
        Some(Denier::PodSecurity) | None => false,
    }
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

/// Reads the policy that denied a pod, if it was one.
async fn policy(reader: &Reader<'_>, failure: &Failure) -> Result<Option<Object>, ClusterError> {
    let Some(Denier::Policy { name, .. }) = failure.denier() else { return Ok(None) };
    let policy = ObjectRef {
        kind: GroupKind::new("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        version: "v1".to_owned(),
        namespace: None,
        name: name.to_owned(),
    };
    Ok(tolerate(reader.cluster.get(&policy).await)?.ok().flatten())
}

/// Says whether a policy looks at what only the sender of a request decides.
fn speaks_of_sender(policy: &Object) -> bool {
    let spec = policy.body()["spec"].to_string();
    spec.contains("userInfo") || spec.contains("authorizer")
}
