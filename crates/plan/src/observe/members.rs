//! Listing whatever carries the label of one of the sets.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{ApplySet, GroupKind, Object, ObjectRef, PART_OF, defined_kind, is_built_in};

use super::catalog::Catalog;
use super::{Reader, tolerate};
use crate::ObjectKey;

/// What carries the label of one of the sets.
#[derive(Default)]
pub(super) struct Members {
    pub(super) objects: BTreeMap<ObjectKey, Object>,
    /// Kinds that could not be listed, with the reason.
    pub(super) unlisted: BTreeMap<GroupKind, String>,
    /// Kinds that can be listed and deleted.
    pub(super) prunable: BTreeSet<GroupKind>,
}

/// Lists the members of all sets with one request a kind, over all namespaces: an object that is moved to
/// another namespace by hand keeps its label, and namespaces differ from kind to kind.
pub(super) async fn list(
    reader: &Reader<'_>,
    sets: &[ApplySet],
    catalog: &Catalog,
) -> Result<Members, ClusterError> {
    let kinds: BTreeSet<GroupKind> = sets.iter().flat_map(ApplySet::scope).collect();
    let ids: Vec<String> = sets.iter().map(ApplySet::id).collect();
    let labels = format!("{PART_OF} in ({})", ids.join(","));
    let listings: Vec<(GroupKind, Listed)> =
        stream::iter(kinds.iter().map(|kind| list_kind(reader, kind, &labels, catalog)))
            .buffer_unordered(reader.concurrency)
            .try_collect()
            .await?;
    let mut members = Members::default();
    for (kind, listed) in listings {
        match listed {
            Listed::Objects { objects, prunable } => {
                let keyed = objects.into_iter().map(|object| (ObjectKey::from(object.reference()), object));
                members.objects.extend(keyed);
                members.prunable.extend(prunable.then_some(kind));
            }
            Listed::Gone => {}
            Listed::Not(reason) => {
                members.unlisted.insert(kind, reason);
            }
        }
    }
    Ok(members)
}

enum Listed {
    Objects {
        objects: Vec<Object>,
        prunable: bool,
    },
    /// The definition is gone, and with it every object of the kind.
    Gone,
    Not(String),
}

async fn list_kind(
    reader: &Reader<'_>,
    kind: &GroupKind,
    labels: &str,
    catalog: &Catalog,
) -> Result<(GroupKind, Listed), ClusterError> {
    let selector = Selector { labels: Some(labels), ..Selector::default() };
    let as_rendered = match catalog.single(kind) {
        Some(resource) => Some((tolerate(reader.cluster.list(resource, selector).await)?, resource)),
        None => None,
    };
    let listed = match as_rendered {
        Some((Ok(listing), resource)) => Ok((resource.clone(), listing)),
        Some((Err(error), _)) if !error.is_not_served() => Err(error),
        // Nothing renders it, or its definition is just going.
        _ => tolerate(reader.cluster.list_kind(kind, selector).await)?,
    };
    let listed = match listed {
        Ok((resource, listing)) => {
            Listed::Objects { objects: listing.objects, prunable: resource.is_prunable() }
        }
        Err(ClusterError::UnknownKind { stale: false, .. }) => match unserved(reader, kind).await? {
            None => Listed::Gone,
            Some(reason) => Listed::Not(reason),
        },
        Err(error) => Listed::Not(error.to_string()),
    };
    Ok((kind.clone(), listed))
}

/// Returns why a kind that is not served may have objects all the same: as long as its definition exists, they are stored.
async fn unserved(reader: &Reader<'_>, kind: &GroupKind) -> Result<Option<String>, ClusterError> {
    if is_built_in(kind) {
        return Ok(None);
    }
    let definitions = GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition");
    let resource = reader.cluster.resource(&definitions, "v1").await?;
    let suffix = format!(".{}", kind.group);
    let of_group = |object: &ObjectRef| object.name.ends_with(&suffix);
    // Definitions are large, and those of other groups are many.
    let listed = reader.cluster.list_metadata_only(&resource, Selector::default(), of_group).await;
    let untold = |error: ClusterError| {
        format!("it is not served, and whether its definition exists cannot be told: {error}")
    };
    let named = match tolerate(listed)? {
        Ok(listing) => listing.objects,
        Err(error) => return Ok(Some(untold(error))),
    };
    for definition in named {
        let name = &definition.reference().name;
        match tolerate(reader.cluster.get_as(&resource, None, name).await)? {
            Ok(Some(live)) if defined_kind(&live).as_ref() == Some(kind) => {
                return Ok(Some(format!("its definition {name} exists and serves no version of it")));
            }
            Ok(_) => {}
            Err(error) => return Ok(Some(untold(error))),
        }
    }
    Ok(None)
}
