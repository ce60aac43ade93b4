//! Reading the live objects of a rendering.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Resource, Selector};
use windlass_model::{Object, Rendering};

use super::catalog::{Catalog, Served};
use super::{Reader, Wanted, tolerate, wanted};
use crate::ObjectKey;

/// What there is of each rendered object, or why that could not be read.
pub(super) type Live = BTreeMap<ObjectKey, Result<Option<Object>, ClusterError>>;

/// From how many objects of one kind in one namespace on a LIST costs less than GETs.
const LIST_FROM: usize = 3;

/// Reads the live objects: members of the sets are known already, the rest costs one LIST a kind and namespace, or a
/// GET each where there are few.
pub(super) async fn read(
    reader: &Reader<'_>,
    rendering: &Rendering,
    catalog: &Catalog,
    members: &BTreeMap<ObjectKey, Object>,
) -> Result<Live, ClusterError> {
    let mut live = Live::new();
    let mut groups: BTreeMap<(String, Option<String>), (Resource, Vec<Wanted<'_>>)> = BTreeMap::new();
    for wanted in wanted(rendering) {
        let reference = wanted.object.reference();
        let Some(Served::Yes(resource)) = catalog.of_object(reference) else { continue };
        match members.get(&wanted.key) {
            Some(member) if member.reference().version == reference.version => {
                live.insert(wanted.key, Ok(Some(member.clone())));
            }
            _ => {
                let group =
                    (reference.api_version() + "/" + &reference.kind.kind, reference.namespace.clone());
                groups.entry(group).or_insert_with(|| (resource.clone(), Vec::new())).1.push(wanted);
            }
        }
    }
    let mut reads = Vec::new();
    for (resource, group) in groups.into_values() {
        if group.len() >= LIST_FROM {
            reads.push(Read { resource, wanted: group });
        } else {
            let one = |wanted| Read { resource: resource.clone(), wanted: vec![wanted] };
            reads.extend(group.into_iter().map(one));
        }
    }
    let found: Vec<Live> = stream::iter(reads.into_iter().map(|read| carry_out(reader, read)))
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await?;
    live.extend(found.into_iter().flatten());
    Ok(live)
}

/// One request: a GET for one object, a LIST for several of one namespace.
struct Read<'a> {
    resource: Resource,
    wanted: Vec<Wanted<'a>>,
}

async fn carry_out(reader: &Reader<'_>, read: Read<'_>) -> Result<Live, ClusterError> {
    let Read { resource, wanted } = read;
    let namespace = wanted.first().and_then(|wanted| wanted.key.namespace.clone());
    if let [one] = wanted.as_slice() {
        let got = reader.cluster.get_as(&resource, namespace.as_deref(), &one.key.name).await;
        return Ok(Live::from([(one.key.clone(), tolerate(got)?)]));
    }
    let selector = Selector { namespace: namespace.as_deref(), ..Selector::default() };
    match tolerate(reader.cluster.list(&resource, selector).await)? {
        Ok(listing) => {
            let mut objects: BTreeMap<ObjectKey, Object> = listing
                .objects
                .into_iter()
                .map(|object| (ObjectKey::from(object.reference()), object))
                .collect();
            Ok(wanted
                .into_iter()
                .map(|wanted| (wanted.key.clone(), Ok(objects.remove(&wanted.key))))
                .collect())
        }
        Err(error) => Ok(wanted.into_iter().map(|wanted| (wanted.key, Err(error.clone()))).collect()),
    }
}
