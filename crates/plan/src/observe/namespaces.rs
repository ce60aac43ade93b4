//! Namespaces that are being deleted.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, FailureKind};
use windlass_model::{GroupKind, Object, ObjectRef};

use super::places::Places;
use super::{Reader, tolerate};
use crate::{Ask, Asked, ObjectKey};

/// Returns the namespaces of rendered objects that are being deleted, each with its status, which says what keeps it:
/// what is created in them is refused, but what is changed in them is accepted, and lost.
///
/// Where namespaces may not be listed, only those are looked at of which the server has said so.
pub(super) async fn terminating(
    reader: &Reader<'_>,
    places: &Places,
    objects: &BTreeMap<ObjectKey, Asked>,
) -> Result<BTreeMap<String, Object>, ClusterError> {
    let names: BTreeSet<&String> = match places.known() {
        Some(known) => {
            known.iter().filter(|(_, place)| place.is_terminating()).map(|(name, _)| name).collect()
        }
        None => named_by_the_server(objects),
    };
    let mut found = BTreeMap::new();
    for name in names {
        let reference = ObjectRef {
            kind: GroupKind::new("", "Namespace"),
            version: "v1".to_owned(),
            namespace: None,
            name: name.clone(),
        };
        let namespace = tolerate(reader.cluster.get(&reference).await)?.ok().flatten();
        found.extend(namespace.filter(Object::is_terminating).map(|namespace| (name.clone(), namespace)));
    }
    Ok(found)
}

fn named_by_the_server(objects: &BTreeMap<ObjectKey, Asked>) -> BTreeSet<&String> {
    let is_refused = |asked: &Asked| matches!(&asked.answer, Ask::Refused(failure) if failure.kind() == FailureKind::NamespaceTerminating);
    objects
        .iter()
        .filter(|(_, asked)| is_refused(asked))
        .filter_map(|(key, _)| key.namespace.as_ref())
        .collect()
}
