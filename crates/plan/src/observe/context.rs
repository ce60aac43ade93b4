//! Reading what is around the objects: whose labels they carry, what deletions take along, what is in the way.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{ApplySet, Claims, EnvironmentName, GroupKind, Object, ObjectRef, PART_OF, Rendering};
use windlass_schema::Version;

use super::{Reader, callers, descendants, tolerate, users};
use crate::{Definition, ObjectKey, Observation, Removal, forecast, kinds};

/// Adds to the observation what guards and forecasts want to know. Little of it exists in most runs.
pub(super) async fn complete(
    reader: &Reader<'_>,
    observation: &mut Observation,
    rendering: &Rendering,
    environment: Option<&EnvironmentName>,
    record_namespace: &str,
) -> Result<(), ClusterError> {
    if let Some(environment) = environment {
        observation.foreign_parents =
            foreign_parents(reader, observation, rendering, environment, record_namespace).await?;
    }
    let going: Vec<Object> = observation
        .candidates
        .iter()
        .filter(|candidate| !matches!(candidate.removal, Removal::NotAsked))
        .map(|candidate| candidate.object.clone())
        .collect();
    observation.definitions = definitions(reader, &going).await?;
    observation.users = users::find(reader, &going).await?;
    observation.callers = callers::find(reader, &going).await?;
    let descendants = descendants::find(reader, &going).await?;
    let all = descendants.found.values().flatten().flatten();
    let gone: Vec<&Object> = going.iter().chain(all).chain(descendants.known.values().flatten()).collect();
    observation.residents = residents(reader, &gone).await?;
    let namespaces: BTreeSet<&str> = gone.iter().filter_map(|object| forecast::claims_in(object)).collect();
    let is_there = |claim: &&Object| {
        claim.reference().namespace.as_deref().is_some_and(|namespace| namespaces.contains(namespace))
    };
    observation.claims = descendants.claims.values().filter(is_there).cloned().collect();
    observation.volumes = volumes(reader, &gone, &observation.claims).await?;
    (observation.descendants, observation.known_descendants) = (descendants.found, descendants.known);
    if forecast::asks_for_classes(&observation.objects) {
        observation.classes = classes(reader).await?;
    }
    Ok(())
}

/// Finds the parents of sets that are none of ours and whose label a rendered object carries. For the message
/// only: what cannot be read stays unnamed.
async fn foreign_parents(
    reader: &Reader<'_>,
    observation: &Observation,
    rendering: &Rendering,
    environment: &EnvironmentName,
    record_namespace: &str,
) -> Result<BTreeMap<String, String>, ClusterError> {
    let ours: BTreeSet<String> = rendering
        .units
        .iter()
        .map(|unit| ApplySet::empty(environment.clone(), unit.name.clone(), record_namespace).id())
        .chain(observation.sets.iter().map(ApplySet::id))
        .collect();
    let foreign: BTreeSet<&str> = observation
        .objects
        .values()
        .filter_map(|asked| asked.live.as_ref()?.label(PART_OF))
        .filter(|label| !ours.contains(*label))
        .collect();
    let mut parents = BTreeMap::new();
    if foreign.is_empty() {
        return Ok(parents);
    }
    let ids: Vec<&str> = foreign.into_iter().collect();
    let labels = format!("applyset.kubernetes.io/id in ({})", ids.join(","));
    let selector = Selector { labels: Some(&labels), ..Selector::default() };
    for kind in ["ConfigMap", "Secret"] {
        let resource = reader.cluster.resource(&GroupKind::new("", kind), "v1").await?;
        let Ok(found) = tolerate(reader.cluster.list(&resource, selector).await)? else { continue };
        for parent in found.objects {
            if let Some(id) = parent.label("applyset.kubernetes.io/id") {
                parents.insert(id.to_owned(), parent.reference().to_string());
            }
        }
    }
    Ok(parents)
}

/// Counts what exists of the kinds whose definitions may go.
async fn definitions(
    reader: &Reader<'_>,
    going: &[Object],
) -> Result<BTreeMap<ObjectKey, Definition>, ClusterError> {
    let mut found = BTreeMap::new();
    for definition in going {
        let Some(read) = windlass_schema::Definition::read(definition) else { continue };
        let kind = read.kind().clone();
        let served = read.versions().find(|version| version.is_served()).map(Version::name);
        // Where no version is served, objects can be stored all the same.
        let listed = match served {
            Some(version) => reader.cluster.list_defined(&kind, version, Selector::default()).await,
            None => reader.cluster.list_kind(&kind, Selector::default()).await.map(|(_, listing)| listing),
        };
        let objects = match tolerate(listed)? {
            Ok(listing) => Ok(listing.objects),
            // The server never took the kind up, so that nobody can have made one.
            Err(ClusterError::UnknownKind { stale: false, .. })
                if served.is_some() && !read.is_established() =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        };
        let objects = objects
            .map(|objects| objects.iter().map(|object| ObjectKey::from(object.reference())).collect())
            .map_err(|error| error.to_string());
        found.insert(ObjectKey::from(definition.reference()), Definition { kind, objects });
    }
    Ok(found)
}

/// Finds what can hold data in namespaces that may go, whoever made it: a namespace takes everything along.
async fn residents(
    reader: &Reader<'_>,
    going: &[&Object],
) -> Result<BTreeMap<String, Result<BTreeSet<ObjectRef>, String>>, ClusterError> {
    let namespaces = going.iter().filter(|object| kinds::is_namespace(&object.reference().kind));
    let names: BTreeSet<&str> = namespaces.map(|object| object.reference().name.as_str()).collect();
    let mut residents = BTreeMap::new();
    for name in names {
        let found = tolerate(reader.cluster.residents(name).await)?;
        residents.insert(
            name.to_owned(),
            found.map(|found| found.into_iter().collect()).map_err(|error| error.to_string()),
        );
    }
    Ok(residents)
}

/// Reads the volumes of claims that may go: their reclaim policy decides over the data.
async fn volumes(
    reader: &Reader<'_>,
    going: &[&Object],
    claims: &Claims,
) -> Result<BTreeMap<String, Object>, ClusterError> {
    let names: BTreeSet<&str> = going
        .iter()
        .copied()
        .filter(|object| kinds::is_claim(&object.reference().kind))
        .chain(claims.iter())
        .filter_map(|claim| claim.body().pointer("/spec/volumeName")?.as_str())
        .collect();
    let mut volumes = BTreeMap::new();
    for name in names {
        if let Some(volume) = get(reader, "PersistentVolume", name).await? {
            volumes.insert(name.to_owned(), volume);
        }
    }
    Ok(volumes)
}

/// Reads the StorageClasses, as far as they may be read: they only explain.
async fn classes(reader: &Reader<'_>) -> Result<BTreeMap<String, Object>, ClusterError> {
    let kind = GroupKind::new("storage.k8s.io", "StorageClass");
    let resource = reader.cluster.resource(&kind, "v1").await?;
    let listing = tolerate(reader.cluster.list(&resource, Selector::default()).await)?;
    let classes = listing.map(|listing| listing.objects).unwrap_or_default();
    Ok(classes.into_iter().map(|class| (class.reference().name.clone(), class)).collect())
}

/// Reads a cluster-scoped object; one that cannot be read is as good as absent here.
async fn get(reader: &Reader<'_>, kind: &str, name: &str) -> Result<Option<Object>, ClusterError> {
    let reference = ObjectRef {
        kind: GroupKind::new("", kind),
        version: "v1".to_owned(),
        namespace: None,
        name: name.to_owned(),
    };
    Ok(tolerate(reader.cluster.get(&reference).await)?.unwrap_or_default())
}
