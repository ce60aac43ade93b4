//! What descends from objects that may go, by owner references.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{Cluster, ClusterError, Selector};
use windlass_model::{GroupKind, Object, ObjectRef, is_custom_kind};

use super::{Reader, tolerate};
use crate::{ObjectKey, kinds};

/// How many owners that are not listed anyway are read in a namespace.
const MANY: usize = 100;

/// The objects that descend from one that may go, or why they could not be found.
pub(super) type Descendants = BTreeMap<ObjectKey, Result<Vec<Object>, String>>;

/// Finds the pods, claims and StatefulSets that go along with what may go: by owner references, over as many
/// generations as there are, and all of them with a namespace. Costs four LISTs a namespace, and a GET for each owner
/// of another kind between them.
pub(super) async fn find(reader: &Reader<'_>, going: &[Object]) -> Result<Descendants, ClusterError> {
    let mut owners: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
    for object in going {
        let reference = object.reference();
        if kinds::is_namespace(&reference.kind) {
            owners.entry(&reference.name).or_default().push(object);
        } else if let Some(namespace) = &reference.namespace
            && has_descendants(&reference.kind)
        {
            owners.entry(namespace).or_default().push(object);
        }
    }
    let mut found = Descendants::new();
    for (namespace, owners) in owners {
        let family = match tolerate(Family::read(reader.cluster, namespace).await)? {
            Ok(mut family) => tolerate(family.complete(&owners).await)?.map(|()| family),
            Err(error) => Err(error),
        };
        for owner in owners {
            let descendants = family.as_ref().map(|family| family.of(owner)).map_err(ToString::to_string);
            found.insert(ObjectKey::from(owner.reference()), descendants);
        }
    }
    Ok(found)
}

fn has_descendants(kind: &GroupKind) -> bool {
    is_custom_kind(kind) || matches!(kind.group.as_str(), "apps" | "batch")
}

/// What lives in a namespace, with the owners between.
struct Family<'a> {
    cluster: &'a Cluster,
    namespace: String,
    members: Vec<Object>,
    /// Whom an object names as its owners, by uid.
    parents: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Family<'a> {
    async fn read(cluster: &'a Cluster, namespace: &str) -> Result<Self, ClusterError> {
        let mut family =
            Self { cluster, namespace: namespace.to_owned(), members: Vec::new(), parents: BTreeMap::new() };
        let kinds =
            [("", "Pod"), ("", "PersistentVolumeClaim"), ("apps", "StatefulSet"), ("apps", "ReplicaSet")];
        for (group, kind) in kinds {
            let resource = cluster.resource(&GroupKind::new(group, kind), "v1").await?;
            let selector = Selector { namespace: Some(namespace), ..Selector::default() };
            for object in cluster.list(&resource, selector).await?.objects {
                family.know(&object);
                family.members.push(object);
            }
        }
        Ok(family)
    }

    fn know(&mut self, object: &Object) {
        if let Some(uid) = object.uid() {
            let parents = owners(object).map(|(_, uid)| uid).collect();
            self.parents.insert(uid.to_owned(), parents);
        }
    }

    /// Reads the owners of kinds that are not listed, and theirs, up to those that may go. What cannot be read ends its
    /// line.
    async fn complete(&mut self, going: &[&Object]) -> Result<(), ClusterError> {
        let known: BTreeSet<String> =
            going.iter().filter_map(|object| object.uid()).map(str::to_owned).collect();
        let mut wanted: Vec<(ObjectRef, String)> =
            self.members.iter().flat_map(|object| self.missing(object)).collect();
        let mut reads = 0;
        while let Some((reference, uid)) = wanted.pop() {
            if self.parents.contains_key(&uid) || known.contains(&uid) || reads >= MANY {
                continue;
            }
            reads += 1;
            self.parents.insert(uid.clone(), BTreeSet::new());
            if let Some(object) = tolerate(self.cluster.get(&reference).await)?.ok().flatten()
                && object.uid() == Some(uid.as_str())
            {
                self.know(&object);
                wanted.extend(self.missing(&object));
            }
        }
        Ok(())
    }

    fn missing(&self, object: &Object) -> Vec<(ObjectRef, String)> {
        let reference = |owner: &serde_json::Value| {
            let text = |field: &str| owner[field].as_str();
            let (group, version) = text("apiVersion")?.rsplit_once('/').unwrap_or(("", text("apiVersion")?));
            Some(ObjectRef {
                kind: GroupKind::new(group, text("kind")?),
                version: version.to_owned(),
                namespace: Some(self.namespace.clone()),
                name: text("name")?.to_owned(),
            })
        };
        let unknown = owners(object).filter(|(_, uid)| !self.parents.contains_key(uid));
        unknown.filter_map(|(owner, uid)| Some((reference(owner)?, uid))).collect()
    }

    /// Returns the members that descend from an object; all of them, if it is their namespace.
    fn of(&self, owner: &Object) -> Vec<Object> {
        let whole = kinds::is_namespace(&owner.reference().kind);
        let descends = |object: &&Object| whole || owner.uid().is_some_and(|uid| self.descends(object, uid));
        self.members.iter().filter(descends).cloned().collect()
    }

    fn descends(&self, object: &Object, ancestor: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut line: Vec<String> = owners(object).map(|(_, uid)| uid).collect();
        while let Some(uid) = line.pop() {
            if uid == ancestor {
                return true;
            }
            if let Some(parents) = self.parents.get(&uid).filter(|_| seen.insert(uid.clone())) {
                line.extend(parents.iter().cloned());
            }
        }
        false
    }
}

fn owners(object: &Object) -> impl Iterator<Item = (&serde_json::Value, String)> {
    let owners = object.body().pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    owners.into_iter().flatten().filter_map(|owner| Some((owner, owner["uid"].as_str()?.to_owned())))
}
