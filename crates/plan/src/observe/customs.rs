//! Reading the objects of a kind whose definition changes, to see what the change does to them.

use std::collections::BTreeMap;

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, Rendering};

use super::{Reader, tolerate};
use crate::definitions::{Change, listing_version};
use crate::{Ask, Asked, ObjectKey, Observation};

/// The live objects of one kind, or why they could not be listed.
pub(super) type Customs = Result<Vec<Object>, String>;

/// Lists the objects of each kind whose definition is live and changes in a way that concerns them.
pub(super) async fn read(
    reader: &Reader<'_>,
    observation: &Observation,
    rendering: &Rendering,
) -> Result<BTreeMap<GroupKind, Customs>, ClusterError> {
    let mut customs = BTreeMap::new();
    for (_, object) in rendering.objects() {
        let Some(asked) = observation.objects.get(&ObjectKey::from(object.reference())) else { continue };
        let change = change(object, asked).filter(Change::concerns_objects);
        // The objects that exist are of the kind as it is named now.
        if let Some(change) = change
            && let Some(old) = &change.old
        {
            customs.insert(old.kind().clone(), list(reader, &change).await?);
        }
    }
    Ok(customs)
}

/// Compares a rendered definition, as the server would store it, with the live one.
pub(super) fn change<'a>(object: &'a Object, asked: &'a Asked) -> Option<Change<'a>> {
    let new = match &asked.answer {
        Ask::Answered(reply) => &reply.object,
        _ => object,
    };
    Change::between(asked.live.as_ref(), new)
}

async fn list(reader: &Reader<'_>, change: &Change<'_>) -> Result<Customs, ClusterError> {
    let (Some(old), Some(version)) = (&change.old, listing_version(change)) else {
        return Ok(Err("no version of the kind is served".to_owned()));
    };
    let listed = tolerate(reader.cluster.list_defined(old.kind(), version, Selector::default()).await)?;
    Ok(listed.map(|listing| listing.objects).map_err(|error| error.to_string()))
}
