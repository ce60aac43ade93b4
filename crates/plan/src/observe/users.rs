//! What still needs what may go.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{
    GroupKind, Object, ObjectRef, is_used_by_pods, pod_uses, revision_kinds, revisions_that_use,
};

use super::{Reader, tolerate};
use crate::ObjectKey;

/// Finds the pods that use what may go, and the revisions from which such pods may still be made: four LISTs a
/// namespace.
pub(super) async fn find(
    reader: &Reader<'_>,
    going: &[Object],
) -> Result<BTreeMap<ObjectKey, Result<BTreeSet<String>, String>>, ClusterError> {
    let mut used: BTreeMap<&str, Vec<&ObjectRef>> = BTreeMap::new();
    for object in going.iter().map(Object::reference).filter(|object| is_used_by_pods(&object.kind)) {
        used.entry(object.namespace.as_deref().unwrap_or_default()).or_default().push(object);
    }
    let mut users = BTreeMap::new();
    for (namespace, objects) in used {
        let makers = tolerate(list(reader, namespace).await)?;
        for object in objects {
            let names = |makers: &Makers| makers.users_of(object);
            let found = makers.as_ref().map(names).map_err(ToString::to_string);
            users.insert(ObjectKey::from(object), found);
        }
    }
    Ok(users)
}

/// The pods of a namespace, and what may be a revision.
struct Makers {
    pods: Vec<Object>,
    revisions: Vec<Object>,
}

impl Makers {
    fn users_of(&self, object: &ObjectRef) -> BTreeSet<String> {
        let pods = self.pods.iter().filter(|pod| pod_uses(pod, object));
        let pods = pods.map(|pod| pod.reference().name.clone());
        pods.chain(revisions_that_use(&self.revisions, object)).collect()
    }
}

async fn list(reader: &Reader<'_>, namespace: &str) -> Result<Makers, ClusterError> {
    let selector = Selector { namespace: Some(namespace), ..Selector::default() };
    let resource = reader.cluster.resource(&GroupKind::new("", "Pod"), "v1").await?;
    let pods = reader.cluster.list(&resource, selector).await?.objects;
    let mut revisions = Vec::new();
    for kind in revision_kinds() {
        let resource = reader.cluster.resource(&kind, "v1").await?;
        revisions.extend(reader.cluster.list(&resource, selector).await?.objects);
    }
    Ok(Makers { pods, revisions })
}
