//! What descends from objects that may go, by owner references.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{Cluster, ClusterError, Selector};
use windlass_model::{GroupKind, Object, is_custom_kind};

use super::{Reader, tolerate};
use crate::{ObjectKey, kinds};

/// From how many owners of one kind on a LIST costs less than GETs.
const LIST_FROM: usize = 3;

/// The objects that descend from those that may go.
#[derive(Default)]
pub(super) struct Descendants {
    /// All of them, or why they could not be found.
    pub(super) found: BTreeMap<ObjectKey, Result<Vec<Object>, String>>,
    /// What was found of those of which not all could be.
    pub(super) known: BTreeMap<ObjectKey, Vec<Object>>,
    /// All claims of the namespaces that were looked at.
    pub(super) claims: Vec<Object>,
}

/// Finds the pods, claims and StatefulSets that go along with what may go: by owner references, over as many
/// generations as there are, and all of them with a namespace. Costs four LISTs a namespace, and for the owners between
/// them a LIST a kind, or a GET or two.
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
    let mut descendants = Descendants::default();
    for (namespace, owners) in owners {
        let lines = match tolerate(Family::read(reader.cluster, namespace).await)? {
            Ok(mut family) => tolerate(family.complete(&owners).await)?.map(|()| family.lines()),
            Err(error) => Err(error),
        };
        let members = lines.iter().flat_map(|lines| &lines.members);
        descendants
            .claims
            .extend(members.filter(|member| kinds::is_claim(&member.reference().kind)).cloned());
        for owner in owners {
            let key = ObjectKey::from(owner.reference());
            let found = match &lines {
                Ok(lines) => {
                    let known = lines.known(owner);
                    match lines.doubt(owner) {
                        None => Ok(known),
                        Some(reason) => {
                            descendants.known.insert(key.clone(), known);
                            Err(reason.to_owned())
                        }
                    }
                }
                Err(error) => Err(error.to_string()),
            };
            descendants.found.insert(key, found);
        }
    }
    Ok(descendants)
}

fn has_descendants(kind: &GroupKind) -> bool {
    let is_core = matches!(kind.kind.as_str(), "Pod" | "ReplicationController") && kind.group.is_empty();
    is_custom_kind(kind) || is_core || matches!(kind.group.as_str(), "apps" | "batch")
}

/// What lives in a namespace, with the owners between.
struct Family<'a> {
    cluster: &'a Cluster,
    namespace: String,
    members: Vec<Object>,
    /// Whom an object names as its owners, by uid.
    parents: BTreeMap<String, BTreeSet<String>>,
    /// Why owners could not be read, by uid: nobody knows whose they are.
    unread: BTreeMap<String, String>,
}

/// Owners of one kind that are not known yet: the name by uid.
type Unknown = BTreeMap<String, String>;

impl<'a> Family<'a> {
    async fn read(cluster: &'a Cluster, namespace: &str) -> Result<Self, ClusterError> {
        let mut family = Self {
            cluster,
            namespace: namespace.to_owned(),
            members: Vec::new(),
            parents: BTreeMap::new(),
            unread: BTreeMap::new(),
        };
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

    /// Reads the owners of kinds that are not listed, and theirs, up to those that may go: generation by generation.
    async fn complete(&mut self, going: &[&Object]) -> Result<(), ClusterError> {
        for object in going {
            self.know(object);
        }
        let mut unknown = self.unknown(&self.members);
        while !unknown.is_empty() {
            let mut found = Vec::new();
            for (kind, owners) in unknown {
                match tolerate(self.owners(&kind, &owners).await)? {
                    Ok(objects) => found.extend(objects),
                    Err(error) => {
                        self.unread.extend(owners.keys().map(|uid| (uid.clone(), error.to_string())));
                    }
                }
                // Whatever was not found is gone.
                for uid in owners.into_keys() {
                    self.parents.entry(uid).or_default();
                }
            }
            for object in &found {
                self.know(object);
            }
            unknown = self.unknown(&found);
        }
        Ok(())
    }

    /// Returns the owners of these objects that nothing is known of, by kind and version.
    fn unknown(&self, objects: &[Object]) -> BTreeMap<(GroupKind, String), Unknown> {
        let mut kinds: BTreeMap<(GroupKind, String), Unknown> = BTreeMap::new();
        for (owner, uid) in objects.iter().flat_map(owners).filter(|(_, uid)| !self.parents.contains_key(uid))
        {
            let text = |field: &str| owner[field].as_str().unwrap_or_default();
            let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
            let kind = (GroupKind::new(group, text("kind")), version.to_owned());
            kinds.entry(kind).or_default().insert(uid, text("name").to_owned());
        }
        kinds
    }

    /// Reads those that exist; of a kind that is not served any more there are none.
    async fn owners(
        &self,
        (kind, version): &(GroupKind, String),
        unknown: &Unknown,
    ) -> Result<Vec<Object>, ClusterError> {
        let resource = match self.cluster.resource(kind, version).await {
            Err(ClusterError::UnknownKind { stale: false, .. }) => return Ok(Vec::new()),
            resource => resource?,
        };
        let namespace = resource.namespaced.then_some(self.namespace.as_str());
        let mut found = Vec::new();
        if unknown.len() < LIST_FROM {
            for name in unknown.values() {
                found.extend(self.cluster.get_as(&resource, namespace, name).await?);
            }
        } else {
            let selector = Selector { namespace, ..Selector::default() };
            found = self.cluster.list(&resource, selector).await?.objects;
        }
        found.retain(|object| object.uid().is_some_and(|uid| unknown.contains_key(uid)));
        Ok(found)
    }

    /// Returns what descends from whom.
    fn lines(self) -> Lines {
        let mut lines = Lines::default();
        for (index, member) in self.members.iter().enumerate() {
            let line = self.line(member);
            let unread = line.iter().find_map(|uid| self.unread.get(uid));
            if let Some(reason) = unread.filter(|_| holds_data(&member.reference().kind)) {
                lines
                    .doubtful
                    .insert(index, format!("whose {} is could not be read: {reason}", member.reference()));
            }
            for uid in line {
                lines.members_of.entry(uid).or_default().insert(index);
            }
        }
        lines.members = self.members;
        lines
    }

    /// Returns the uids of all whom an object descends from.
    fn line(&self, object: &Object) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut line: Vec<String> = owners(object).map(|(_, uid)| uid).collect();
        while let Some(uid) = line.pop() {
            if seen.insert(uid.clone()) {
                line.extend(self.parents.get(&uid).into_iter().flatten().cloned());
            }
        }
        seen
    }
}

/// The members of a namespace by whom they descend from.
#[derive(Default)]
struct Lines {
    members: Vec<Object>,
    /// By uid.
    members_of: BTreeMap<String, BTreeSet<usize>>,
    /// Those that can take data along and may descend from somebody else, with the reason.
    doubtful: BTreeMap<usize, String>,
}

impl Lines {
    /// Returns the members that are known to descend from an object: all of them, if it is their namespace.
    fn known(&self, owner: &Object) -> Vec<Object> {
        if kinds::is_namespace(&owner.reference().kind) {
            return self.members.clone();
        }
        self.indexes(owner).filter_map(|index| self.members.get(index)).cloned().collect()
    }

    /// Returns why not all of them may be known.
    fn doubt(&self, owner: &Object) -> Option<&str> {
        // Between a built-in workload and data is hardly ever a kind that cannot be read.
        if !is_custom_kind(&owner.reference().kind) {
            return None;
        }
        let own: BTreeSet<usize> = self.indexes(owner).collect();
        self.doubtful.iter().find(|(index, _)| !own.contains(index)).map(|(_, reason)| reason.as_str())
    }

    fn indexes(&self, owner: &Object) -> impl Iterator<Item = usize> {
        owner.uid().and_then(|uid| self.members_of.get(uid)).into_iter().flatten().copied()
    }
}

/// Says whether deleting an object can delete data: claims, and what deletes its claims.
fn holds_data(kind: &GroupKind) -> bool {
    kinds::is_claim(kind) || kinds::is_stateful_set(kind)
}

fn owners(object: &Object) -> impl Iterator<Item = (&serde_json::Value, String)> {
    let owners = object.body().pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    owners.into_iter().flatten().filter_map(|owner| Some((owner, owner["uid"].as_str()?.to_owned())))
}
