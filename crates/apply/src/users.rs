//! The pods that still use what is to be deleted.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, ObjectRef, is_custom_kind, is_used_by_pods, pod_uses};

use crate::Context;
use crate::failure::Halt;

/// How long the garbage collector may take to come to the pods of a workload that was just deleted.
const COLLECTION: Duration = Duration::from_secs(5);

/// The pods of the namespaces in which something is to be deleted that pods use, read once a namespace.
///
/// A rollout can be over while pods of an older revision run: under `partition`, `OnDelete` or `paused`. Once such
/// a pod is created anew, it needs what its revision names, which no unit renders any more.
pub(crate) struct Users {
    limit: Duration,
    /// What is to be deleted in each namespace, of kinds that pods use.
    going: BTreeMap<String, Vec<ObjectRef>>,
    pods: BTreeMap<String, Result<Vec<Object>, String>>,
}

impl Users {
    /// Prepares for deleting these objects; `limit` is how long pods that are going are waited for.
    pub(crate) fn new<'a>(going: impl Iterator<Item = &'a ObjectRef>, limit: Duration) -> Self {
        let mut by_namespace: BTreeMap<String, Vec<ObjectRef>> = BTreeMap::new();
        for object in going.filter(|object| is_used_by_pods(&object.kind)) {
            let namespace = object.namespace.clone().unwrap_or_default();
            by_namespace.entry(namespace).or_default().push(object.clone());
        }
        Self { limit, going: by_namespace, pods: BTreeMap::new() }
    }

    /// Returns why an object must stay because of pods, if it must. What cannot be told counts as use.
    pub(crate) async fn reason(
        &mut self,
        object: &ObjectRef,
        deleted: &[ObjectRef],
        context: &Context<'_>,
    ) -> Result<Option<String>, Halt> {
        let Some(namespace) = object.namespace.as_ref().filter(|_| is_used_by_pods(&object.kind)) else {
            return Ok(None);
        };
        if !self.pods.contains_key(namespace) {
            let pods = self.settled(namespace, deleted, context).await?;
            self.pods.insert(namespace.clone(), pods.map_err(|error| error.to_string()));
        }
        Ok(match self.pods.get(namespace) {
            Some(Ok(pods)) => pods
                .iter()
                .find(|pod| pod_uses(pod, object))
                .map(|pod| format!("pod {} still uses it", pod.reference().name)),
            Some(Err(error)) => Some(format!("whether pods still use it cannot be told: {error}")),
            None => None,
        })
    }

    /// Lists the pods of a namespace, and again while pods that use something are on their way out: those of a
    /// replaced revision, and those of a workload that this run has deleted.
    async fn settled(
        &self,
        namespace: &str,
        deleted: &[ObjectRef],
        context: &Context<'_>,
    ) -> Result<Result<Vec<Object>, ClusterError>, Halt> {
        let start = Instant::now();
        let collected = deleted
            .iter()
            .any(|object| object.namespace.as_deref() == Some(namespace) && has_pods(&object.kind));
        let going = self.going.get(namespace).map_or(&[][..], Vec::as_slice);
        let mut pause = Duration::from_millis(100);
        loop {
            let pods = match list(namespace, context).await {
                Ok(pods) => pods,
                Err(error) => return Ok(Err(error)),
            };
            let mut users = pods.iter().filter(|pod| going.iter().any(|object| pod_uses(pod, object)));
            let limit = if collected { COLLECTION.min(self.limit) } else { Duration::ZERO };
            let waits =
                users.any(|pod| start.elapsed() < if pod.is_terminating() { self.limit } else { limit });
            if !waits {
                return Ok(Ok(pods));
            }
            if !context.pause(pause).await {
                return Err(Halt::Stopped);
            }
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }
}

/// Says whether objects of a kind may have pods that go with them.
fn has_pods(kind: &GroupKind) -> bool {
    matches!(kind.group.as_str(), "apps" | "batch")
        || is_custom_kind(kind)
        || kind.is("", "Pod")
        || kind.is("", "ReplicationController")
}

async fn list(namespace: &str, context: &Context<'_>) -> Result<Vec<Object>, ClusterError> {
    let resource = context.cluster.resource(&GroupKind::new("", "Pod"), "v1").await?;
    let selector = Selector { namespace: Some(namespace), ..Selector::default() };
    Ok(context.cluster.list(&resource, selector).await?.objects)
}
