//! Reading what other delivery tools record of what they deliver.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, inventory_kinds, inventory_of};

use super::{Reader, tolerate};
use crate::{Inventories, ObjectKey};

/// Lists the holders of inventories, one request a kind that is served, and keeps what they say about `concerned`.
pub(super) async fn read(
    reader: &Reader<'_>,
    concerned: BTreeSet<ObjectKey>,
) -> Result<Inventories, ClusterError> {
    let mut inventories = Inventories::default();
    for kind in inventory_kinds() {
        // Only what is served is looked up: the look-up of anything else asks the server what it serves once more.
        if reader.cluster.is_namespaced(&kind).await?.is_none() {
            // Of a group that does not answer it is not known what it serves.
            if reader.cluster.stale_groups().await?.contains(&kind.group) {
                let reason = format!("the API service of the group `{}` does not answer", kind.group);
                inventories.unlisted.insert(kind, reason);
            }
            continue;
        }
        match holders(reader, &kind).await? {
            Ok(holders) => inventories.owners.extend(owned(&holders, &concerned)),
            Err(reason) => drop(inventories.unlisted.insert(kind, reason)),
        }
    }
    Ok(inventories)
}

async fn holders(reader: &Reader<'_>, kind: &GroupKind) -> Result<Result<Vec<Object>, String>, ClusterError> {
    Ok(match tolerate(reader.cluster.list_kind(kind, Selector::default()).await)? {
        Ok((_, listing)) => Ok(listing.objects),
        // With its definition a kind loses all its objects, and every inventory with them.
        Err(ClusterError::UnknownKind { stale: false, .. }) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    })
}

fn owned<'a>(
    holders: &'a [Object],
    concerned: &'a BTreeSet<ObjectKey>,
) -> impl Iterator<Item = (ObjectKey, windlass_model::Owner)> + use<'a> {
    let inventories: BTreeMap<_, _> = holders
        .iter()
        .filter_map(inventory_of)
        .flat_map(|(owner, all)| all.into_iter().map(move |delivered| (delivered, owner.clone())))
        .collect();
    inventories.into_iter().filter_map(|((kind, namespace, name), owner)| {
        let key = ObjectKey { kind, namespace, name };
        concerned.contains(&key).then_some((key, owner))
    })
}
