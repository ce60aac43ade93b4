//! Reading what lives in a home, with the owners between.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{GroupKind, Object, ObjectRef, is_namespace};

use super::{Home, Lineage};
use crate::{Cluster, ClusterError, FailureKind, Resource, Selector};

/// From how many owners of one kind on a LIST costs less than GETs.
const LIST_FROM: usize = 3;

/// The kinds that are listed, and whether more than their metadata is wanted: what a claim or a StatefulSet takes along
/// is in its spec.
const MEMBERS: [(&str, &str, bool); 4] = [
    ("", "Pod", false),
    ("", "PersistentVolumeClaim", true),
    ("apps", "StatefulSet", true),
    ("apps", "ReplicaSet", false),
];

/// What lives in a home, with the owners between.
pub(super) struct Family<'a> {
    cluster: &'a Cluster,
    members: Vec<Object>,
    /// Whom an object names as its owners, and the namespace it lives in, by uid.
    parents: BTreeMap<String, BTreeSet<String>>,
    /// The uids of namespaces by name, where namespaces are members.
    namespaces: BTreeMap<String, String>,
    /// Owners that somebody names and that nothing is known of yet, by kind and version.
    unknown: BTreeMap<(GroupKind, String), Unknown>,
    /// Why owners could not be read, by uid: nobody knows whose they are.
    unread: BTreeMap<String, String>,
}

/// Owners of one kind that are not known yet: by uid the namespace of what they own, and their name.
type Unknown = BTreeMap<String, (Option<String>, String)>;

impl<'a> Family<'a> {
    pub(super) async fn read(cluster: &'a Cluster, home: &Home) -> Result<Self, ClusterError> {
        let mut family = Self {
            cluster,
            members: Vec::new(),
            parents: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            unknown: BTreeMap::new(),
            unread: BTreeMap::new(),
        };
        let selector = Selector { namespace: home.namespace(), ..Selector::default() };
        if *home == Home::Cluster {
            family.add("", "Namespace", false, selector).await?;
        }
        for (group, kind, whole) in MEMBERS {
            family.add(group, kind, whole, selector).await?;
        }
        Ok(family)
    }

    async fn add(
        &mut self,
        group: &str,
        kind: &str,
        whole: bool,
        selector: Selector<'_>,
    ) -> Result<(), ClusterError> {
        let resource = self.cluster.resource(&GroupKind::new(group, kind), "v1").await?;
        let listing = if whole {
            self.cluster.list(&resource, selector).await?
        } else {
            self.cluster.list_metadata(&resource, selector).await?
        };
        for object in listing.objects {
            if let (true, Some(uid)) = (is_namespace(&object.reference().kind), object.uid()) {
                self.namespaces.insert(object.reference().name.clone(), uid.to_owned());
            }
            self.follow(&object);
            // Whatever was looked at is unfolded.
            self.members.push(object.folded());
        }
        Ok(())
    }

    /// Takes down whom an object descends from, and returns its owners.
    fn know(&mut self, object: &Object) -> Vec<Owner> {
        let owners = owners(object);
        if let Some(uid) = object.uid() {
            let namespace = object.reference().namespace.as_ref().and_then(|name| self.namespaces.get(name));
            let parents = owners.iter().map(|owner| owner.uid.clone()).chain(namespace.cloned()).collect();
            self.parents.insert(uid.to_owned(), parents);
        }
        owners
    }

    /// Takes down whom an object descends from, and that its owners must be known as well.
    fn follow(&mut self, object: &Object) {
        for owner in self.know(object) {
            let place = (object.reference().namespace.clone(), owner.name);
            self.unknown.entry(owner.kind).or_default().insert(owner.uid, place);
        }
    }

    /// Reads the owners of kinds that are not listed, and theirs, up to those that are known: generation by generation.
    pub(super) async fn complete(&mut self, known: &[&Object]) -> Result<(), ClusterError> {
        for object in known {
            self.know(object);
        }
        while !self.unknown.is_empty() {
            for (kind, mut owners) in std::mem::take(&mut self.unknown) {
                owners.retain(|uid, _| !self.parents.contains_key(uid));
                if owners.is_empty() {
                    continue;
                }
                match self.owners(&kind, &owners).await {
                    Ok(found) => found.iter().for_each(|object| self.follow(object)),
                    Err(error) if error.concerns_everything() => return Err(error),
                    Err(error) => {
                        self.unread.extend(owners.keys().map(|uid| (uid.clone(), error.to_string())));
                    }
                }
                // Whatever was not found is gone.
                for uid in owners.into_keys() {
                    self.parents.entry(uid).or_default();
                }
            }
        }
        Ok(())
    }

    /// Reads those that exist; of a kind that is not served any more there are none.
    async fn owners(
        &self,
        (kind, version): &(GroupKind, String),
        unknown: &Unknown,
    ) -> Result<Vec<Object>, ClusterError> {
        let resource = match self.cluster.served(kind, version).await {
            Err(ClusterError::UnknownKind { stale: false, .. }) => return Ok(Vec::new()),
            resource => resource?,
        };
        let mut found = if unknown.len() < LIST_FROM {
            self.one_by_one(&resource, unknown).await?
        } else {
            match self.listed(&resource, unknown).await {
                // Who may not list may be allowed to look at each.
                Err(error) if is_forbidden(&error) => self.one_by_one(&resource, unknown).await?,
                listed => listed?,
            }
        };
        found.retain(|object| object.uid().is_some_and(|uid| unknown.contains_key(uid)));
        Ok(found)
    }

    async fn one_by_one(&self, resource: &Resource, unknown: &Unknown) -> Result<Vec<Object>, ClusterError> {
        let mut found = Vec::new();
        for (namespace, name) in unknown.values() {
            let namespace = namespace.as_deref().filter(|_| resource.namespaced);
            found.extend(self.cluster.get_as(resource, namespace, name).await?);
        }
        Ok(found)
    }

    /// Lists the one namespace that all of them live in, or all.
    async fn listed(&self, resource: &Resource, unknown: &Unknown) -> Result<Vec<Object>, ClusterError> {
        let namespaces: BTreeSet<Option<&str>> =
            unknown.values().map(|(namespace, _)| namespace.as_deref()).collect();
        let only =
            namespaces.first().copied().flatten().filter(|_| resource.namespaced && namespaces.len() == 1);
        let selector = Selector { namespace: only, ..Selector::default() };
        let names: BTreeSet<&str> = unknown.values().map(|(_, name)| name.as_str()).collect();
        let wanted = |object: &ObjectRef| names.contains(object.name.as_str());
        Ok(self.cluster.list_metadata_only(resource, selector, wanted).await?.objects)
    }

    /// Returns what descends from whom.
    pub(super) fn lineage(mut self) -> Lineage {
        let mut lineage = Lineage::default();
        for member in std::mem::take(&mut self.members) {
            let line = member.uid().map(|uid| self.line(uid)).unwrap_or_default();
            let unread = line.iter().find_map(|uid| self.unread.get(uid)).map(String::as_str);
            lineage.add(member, line, unread);
        }
        lineage
    }

    /// Returns the uids of all whom an object descends from.
    fn line(&self, uid: &str) -> BTreeSet<String> {
        let parents = |uid: &str| self.parents.get(uid).into_iter().flatten().cloned();
        let mut seen = BTreeSet::new();
        let mut line: Vec<String> = parents(uid).collect();
        while let Some(uid) = line.pop() {
            if !seen.contains(&uid) {
                line.extend(parents(&uid));
                seen.insert(uid);
            }
        }
        seen
    }
}

/// An owner as its dependents name it.
struct Owner {
    /// With the version.
    kind: (GroupKind, String),
    name: String,
    uid: String,
}

fn owners(object: &Object) -> Vec<Owner> {
    let owners = object.body().pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    let read = |owner: &serde_json::Value| {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
        let kind = (GroupKind::new(group, text("kind")), version.to_owned());
        Some(Owner { kind, name: text("name").to_owned(), uid: owner["uid"].as_str()?.to_owned() })
    };
    owners.into_iter().flatten().filter_map(read).collect()
}

fn is_forbidden(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| failure.kind() == FailureKind::Forbidden)
}
