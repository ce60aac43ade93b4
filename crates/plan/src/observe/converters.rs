//! The Services that convert between the versions of definitions that change.

use std::collections::BTreeMap;

use windlass_cluster::{ClusterError, Silence};
use windlass_model::Rendering;

use super::customs::change;
use super::{Reader, tolerate};
use crate::definitions::Change;
use crate::{ObjectKey, Observation};

/// Returns those that cannot answer now, each with the reason. It is asked only where objects exist. What cannot be
/// read is not said to be silent.
pub(super) async fn silent(
    reader: &Reader<'_>,
    observation: &Observation,
    rendering: &Rendering,
) -> Result<BTreeMap<ObjectKey, Silence>, ClusterError> {
    let mut silent = BTreeMap::new();
    for (_, object) in rendering.objects() {
        let Some(asked) = observation.objects.get(&ObjectKey::from(object.reference())) else { continue };
        let Some(change) = change(object, asked).filter(Change::concerns_objects) else { continue };
        let live = change.old.as_ref().and_then(|old| observation.customs.get(old.kind()));
        let exist = live.is_some_and(|listed| listed.as_ref().is_ok_and(|objects| !objects.is_empty()));
        let Some(service) = change.converting_service().filter(|_| exist) else { continue };
        if let Ok(Some(silence)) = tolerate(reader.cluster.silence(&service).await)? {
            silent.insert(ObjectKey::from(&service), silence);
        }
    }
    Ok(silent)
}
