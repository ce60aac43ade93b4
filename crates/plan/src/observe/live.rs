//! Reading the live objects of a rendering.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Resource, Selector};
use windlass_model::{GroupKind, Object, ObjectRef, Rendering};

use super::catalog::{Catalog, Served};
use super::places::Places;
use super::{Reader, tolerate, wanted};
use crate::ObjectKey;

/// What there is of each rendered object, or why that could not be read.
pub(super) type Live = BTreeMap<ObjectKey, Result<Option<Object>, ClusterError>>;

/// From how many objects of one kind in one namespace on a LIST costs less than GETs.
const LIST_FROM: usize = 3;
/// From how many namespaces on one LIST over all of them costs less than one each.
const ALL_FROM: usize = 4;

/// Reads the live objects: members of the sets are known already, and in a namespace that does not exist is nothing.
/// The rest costs one LIST a kind, one a kind and namespace where there are few namespaces, or a GET each where there
/// are few objects.
pub(super) async fn read(
    reader: &Reader<'_>,
    rendering: &Rendering,
    catalog: &Catalog,
    places: &Places,
    members: &BTreeMap<ObjectKey, Object>,
) -> Result<Live, ClusterError> {
    let mut live = Live::new();
    let mut kinds: BTreeMap<(&GroupKind, &str), (&Resource, Vec<ObjectKey>)> = BTreeMap::new();
    for wanted in wanted(rendering) {
        let reference = wanted.object.reference();
        let Some(Served::Yes(resource)) = catalog.of_object(reference) else { continue };
        match members.get(&wanted.key) {
            Some(member) if member.reference().version == reference.version => {
                live.insert(wanted.key, Ok(Some(member.clone())));
            }
            _ if resource.namespaced && places.lacks(&wanted.key) => {
                live.insert(wanted.key, Ok(None));
            }
            _ => {
                let kind = (&reference.kind, reference.version.as_str());
                kinds.entry(kind).or_insert_with(|| (resource, Vec::new())).1.push(wanted.key);
            }
        }
    }
    let reads = kinds.into_values().map(|(resource, keys)| of_kind(reader, resource, keys));
    let found: Vec<Live> = stream::iter(reads).buffer_unordered(reader.concurrency).try_collect().await?;
    live.extend(found.into_iter().flatten());
    Ok(live)
}

async fn of_kind(
    reader: &Reader<'_>,
    resource: &Resource,
    keys: Vec<ObjectKey>,
) -> Result<Live, ClusterError> {
    let mut spread: BTreeMap<Option<String>, Vec<ObjectKey>> = BTreeMap::new();
    for key in &keys {
        spread.entry(key.namespace.clone()).or_default().push(key.clone());
    }
    if spread.len() >= ALL_FROM {
        // A right that holds in some namespaces only is no right to list all.
        if let Ok(live) = listed(reader, resource, None, keys).await? {
            return Ok(live);
        }
    }
    let mut live = Live::new();
    for (namespace, keys) in spread {
        if keys.len() < LIST_FROM {
            for key in keys {
                let got = reader.cluster.get_as(resource, namespace.as_deref(), &key.name).await;
                live.insert(key, tolerate(got)?);
            }
            continue;
        }
        match listed(reader, resource, namespace.as_deref(), keys.clone()).await? {
            Ok(found) => live.extend(found),
            Err(error) => live.extend(keys.into_iter().map(|key| (key, Err(error.clone())))),
        }
    }
    Ok(live)
}

async fn listed(
    reader: &Reader<'_>,
    resource: &Resource,
    namespace: Option<&str>,
    keys: Vec<ObjectKey>,
) -> Result<Result<Live, ClusterError>, ClusterError> {
    let mut live: Live = keys.into_iter().map(|key| (key, Ok(None))).collect();
    let selector = Selector { namespace, ..Selector::default() };
    let is_wanted = |object: &ObjectRef| live.contains_key(&ObjectKey::from(object));
    let listing = match tolerate(reader.cluster.list_only(resource, selector, is_wanted).await)? {
        Ok(listing) => listing,
        Err(error) => return Ok(Err(error)),
    };
    for object in listing.objects {
        live.insert(ObjectKey::from(object.reference()), Ok(Some(object)));
    }
    Ok(Ok(live))
}
