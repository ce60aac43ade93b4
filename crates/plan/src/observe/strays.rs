//! Recorded members that lost their label: they still exist, and no listing finds them.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::ClusterError;
use windlass_model::{Object, ObjectRef, PART_OF, UnitName};

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
        .filter_map(|(set, entry)| Some((set.unit.clone(), ObjectKey::from(ObjectRef::key_of_entry(entry)?))))
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
