//! Recorded members that lost their label: they still exist, and no listing finds them.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::ClusterError;
use windlass_model::{GroupKind, Object, PART_OF, UnitName};

use super::{Reader, tolerate};
use crate::evidence::Rendered;
use crate::{ObjectKey, Observation};

/// Returns the recorded members that no unit renders and that exist without the label of any of the sets. What is
/// gone, or cannot be read, is not among them.
pub(super) async fn find(
    reader: &Reader<'_>,
    observation: &Observation,
    rendered: &Rendered,
    members: &BTreeMap<ObjectKey, Object>,
) -> Result<Vec<(UnitName, ObjectKey)>, ClusterError> {
    let recorded = observation.sets.iter().flat_map(|set| set.members.iter().map(move |entry| (set, entry)));
    let missing = recorded
        .filter(|(_, entry)| !rendered.has_entry(entry))
        .filter_map(|(set, entry)| Some((set.unit.clone(), read_entry(entry)?)))
        .filter(|(_, key)| !members.contains_key(key) && !observation.unlisted.contains_key(&key.kind));
    let ids: Vec<String> = observation.sets.iter().map(windlass_model::ApplySet::id).collect();
    let ids = &ids;
    let found: Vec<Option<(UnitName, ObjectKey)>> = stream::iter(missing.collect::<Vec<_>>())
        .map(|(unit, key)| async move {
            let Ok(resource) = tolerate(reader.cluster.preferred(&key.kind).await)? else { return Ok(None) };
            let got = reader.cluster.get_as(&resource, key.namespace.as_deref(), &key.name).await;
            let Ok(Some(object)) = tolerate(got)? else { return Ok(None) };
            let labelled = object.label(PART_OF).is_some_and(|label| ids.iter().any(|id| id == label));
            Ok::<_, ClusterError>((!labelled).then_some((unit, key)))
        })
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await?;
    let mut strays: Vec<(UnitName, ObjectKey)> = found.into_iter().flatten().collect();
    strays.sort();
    Ok(strays)
}

/// Reads `Kind.group/name.namespace`; names may hold dots, kinds and namespaces do not.
fn read_entry(entry: &str) -> Option<ObjectKey> {
    let (kind, rest) = entry.split_once('/')?;
    let (kind, group) = kind.split_once('.')?;
    let (name, namespace) = rest.rsplit_once('.')?;
    let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
    Some(ObjectKey { kind: GroupKind::new(group, kind), namespace, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use windlass_model::ObjectRef;

    use super::*;

    #[test]
    fn entries_read_as_they_are_written() {
        for (kind, namespace, name) in [
            ("ConfigMap", Some("shop"), "a.b"),
            ("Namespace", None, "shop"),
            ("Ingress.networking.k8s.io", Some("shop"), "web"),
            ("ClusterRole.rbac.authorization.k8s.io", None, "a:b.c"),
        ] {
            let reference = ObjectRef {
                kind: GroupKind::from(kind.to_owned()),
                version: "v1".into(),
                namespace: namespace.map(str::to_owned),
                name: name.into(),
            };
            assert_eq!(read_entry(&reference.inventory_entry()), Some(ObjectKey::from(&reference)));
        }
    }
}
