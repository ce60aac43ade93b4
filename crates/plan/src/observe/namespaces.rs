//! Namespaces that are being deleted.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, FailureKind, Selector};
use windlass_model::{GroupKind, Object, ObjectRef};

use super::{Reader, tolerate};
use crate::{Ask, Asked, ObjectKey};

/// Returns the namespaces of rendered objects that are being deleted: what is created in them is refused, but what is
/// changed in them is accepted, and lost.
///
/// Where namespaces may not be listed, only those are looked at of which the server has said so.
pub(super) async fn terminating(
    reader: &Reader<'_>,
    objects: &BTreeMap<ObjectKey, Asked>,
) -> Result<BTreeMap<String, Object>, ClusterError> {
    let used: BTreeSet<&str> = objects.keys().filter_map(|key| key.namespace.as_deref()).collect();
    if used.is_empty() {
        return Ok(BTreeMap::new());
    }
    let resource = reader.cluster.resource(&GroupKind::new("", "Namespace"), "v1").await?;
    let found = match tolerate(reader.cluster.list(&resource, Selector::default()).await)? {
        Ok(listing) => listing.objects,
        Err(_) => named(reader, objects).await?,
    };
    Ok(found
        .into_iter()
        .filter(|namespace| namespace.is_terminating() && used.contains(namespace.reference().name.as_str()))
        .map(|namespace| (namespace.reference().name.clone(), namespace))
        .collect())
}

async fn named(
    reader: &Reader<'_>,
    objects: &BTreeMap<ObjectKey, Asked>,
) -> Result<Vec<Object>, ClusterError> {
    let refused = objects.iter().filter(|(_, asked)| {
        matches!(&asked.answer, Ask::Refused(failure) if failure.kind() == FailureKind::NamespaceTerminating)
    });
    let names: BTreeSet<&String> = refused.filter_map(|(key, _)| key.namespace.as_ref()).collect();
    let mut found = Vec::new();
    for name in names {
        let reference = ObjectRef {
            kind: GroupKind::new("", "Namespace"),
            version: "v1".to_owned(),
            namespace: None,
            name: name.clone(),
        };
        found.extend(tolerate(reader.cluster.get(&reference).await)?.ok().flatten());
    }
    Ok(found)
}
