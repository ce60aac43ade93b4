//! The pods that still use what is to be deleted, and the revisions from which such pods may still be made.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{
    GroupKind, Object, ObjectRef, is_built_in, is_used_by_pods, pod_uses, revision_kinds, revisions_that_use,
};

use crate::Context;
use crate::failure::Halt;

/// How long the garbage collector may take to come to the pods of a workload that was just deleted.
const COLLECTION: Duration = Duration::from_secs(5);

/// The pods and revisions of the namespaces in which something is to be deleted that pods use, read once a namespace.
///
/// A rollout can be over while pods of an older revision run: under `partition`, `OnDelete` or `paused`. Once such
/// a pod is created anew, it needs what its revision names, which no unit renders any more.
pub(crate) struct Users {
    limit: Duration,
    /// What is to be deleted in each namespace, of kinds that pods use.
    going: BTreeMap<String, Vec<ObjectRef>>,
    makers: BTreeMap<String, Result<Makers, String>>,
}

/// The pods of a namespace, and what may be a revision.
struct Makers {
    pods: Vec<Object>,
    revisions: Vec<Object>,
}

impl Makers {
    /// Returns what uses an object, by kind and name.
    fn user_of(&self, object: &ObjectRef) -> Option<String> {
        let pod = self.pods.iter().find(|pod| pod_uses(pod, object));
        let pod = pod.map(|pod| format!("pod {}", pod.reference().name));
        pod.or_else(|| revisions_that_use(&self.revisions, object).into_iter().next())
    }
}

impl Users {
    /// Prepares for deleting these objects; `limit` is how long pods that are going are waited for.
    pub(crate) fn new<'a>(going: impl Iterator<Item = &'a ObjectRef>, limit: Duration) -> Self {
        let mut by_namespace: BTreeMap<String, Vec<ObjectRef>> = BTreeMap::new();
        for object in going.filter(|object| is_used_by_pods(&object.kind)) {
            let namespace = object.namespace.clone().unwrap_or_default();
            by_namespace.entry(namespace).or_default().push(object.clone());
        }
        Self { limit, going: by_namespace, makers: BTreeMap::new() }
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
        if !self.makers.contains_key(namespace) {
            let makers = self.settled(namespace, deleted, context).await?;
            self.makers.insert(namespace.clone(), makers.map_err(|error| error.to_string()));
        }
        Ok(match self.makers.get(namespace) {
            Some(Ok(makers)) => makers.user_of(object).map(|user| format!("{user} still uses it")),
            Some(Err(error)) => Some(format!("whether pods still use it cannot be told: {error}")),
            None => None,
        })
    }

    /// Lists the pods and revisions of a namespace, and again while those that use something are on their way out: pods
    /// of a replaced revision, and whatever belongs to a workload that this run has deleted.
    async fn settled(
        &self,
        namespace: &str,
        deleted: &[ObjectRef],
        context: &Context<'_>,
    ) -> Result<Result<Makers, ClusterError>, Halt> {
        let start = Instant::now();
        let collected = deleted
            .iter()
            .any(|object| object.namespace.as_deref() == Some(namespace) && has_pods(&object.kind));
        let going = self.going.get(namespace).map_or(&[][..], Vec::as_slice);
        let mut pause = Duration::from_millis(100);
        loop {
            let makers = match list(namespace, context).await {
                Ok(makers) => makers,
                Err(error) => return Ok(Err(error)),
            };
            let mut users = makers.pods.iter().filter(|pod| going.iter().any(|object| pod_uses(pod, object)));
            let limit = if collected { COLLECTION.min(self.limit) } else { Duration::ZERO };
            let waits =
                users.any(|pod| start.elapsed() < if pod.is_terminating() { self.limit } else { limit });
            let is_used = |object| !revisions_that_use(&makers.revisions, object).is_empty();
            let awaited = waits || start.elapsed() < limit && going.iter().any(is_used);
            if !awaited {
                return Ok(Ok(makers));
            }
            if !context.pause(pause).await {
                return Err(Halt::Stopped);
            }
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }
}

/// Says whether objects of a kind may have pods that go with them.
pub(crate) fn has_pods(kind: &GroupKind) -> bool {
    matches!(kind.group.as_str(), "apps" | "batch")
        || !is_built_in(kind)
        || kind.is("", "Pod")
        || kind.is("", "ReplicationController")
}

async fn list(namespace: &str, context: &Context<'_>) -> Result<Makers, ClusterError> {
    let selector = Selector { namespace: Some(namespace), ..Selector::default() };
    let resource = context.cluster.resource(&GroupKind::new("", "Pod"), "v1").await?;
    let pods = context.cluster.list(&resource, selector).await?.objects;
    let mut revisions = Vec::new();
    for kind in revision_kinds() {
        let resource = context.cluster.resource(&kind, "v1").await?;
        revisions.extend(context.cluster.list(&resource, selector).await?.objects);
    }
    Ok(Makers { pods, revisions })
}
