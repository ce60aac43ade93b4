//! How the rendered kinds are served.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{Cluster, ClusterError, Resource};
use windlass_model::{GroupKind, ObjectRef, Rendering};

/// The rendered kinds and versions, each with how it is served, asked once a kind: an unknown one costs a new
/// discovery.
pub(super) struct Catalog(BTreeMap<(GroupKind, String), Served>);

/// How one kind is served in one version.
pub(super) enum Served {
    Yes(Resource),
    No { stale: bool },
}

impl Catalog {
    pub(super) async fn of(cluster: &Cluster, rendering: &Rendering) -> Result<Self, ClusterError> {
        let kinds: BTreeSet<(GroupKind, String)> = rendering
            .objects()
            .map(|(_, object)| (object.reference().kind.clone(), object.reference().version.clone()))
            .collect();
        let mut served = BTreeMap::new();
        for (kind, version) in kinds {
            let found = match cluster.resource(&kind, &version).await {
                Ok(resource) => Served::Yes(resource),
                Err(ClusterError::UnknownKind { stale, .. }) => Served::No { stale },
                Err(error) => return Err(error),
            };
            served.insert((kind, version), found);
        }
        Ok(Self(served))
    }

    /// Returns how an object's kind is served.
    pub(super) fn of_object(&self, object: &ObjectRef) -> Option<&Served> {
        self.0.get(&(object.kind.clone(), object.version.clone()))
    }

    /// Returns the kinds that are served, in each version in which they are rendered.
    pub(super) fn served(&self) -> impl Iterator<Item = &Resource> {
        self.0.values().filter_map(|served| match served {
            Served::Yes(resource) => Some(resource),
            Served::No { .. } => None,
        })
    }

    /// Returns how a kind is served in the one version in which it is rendered; `None` if it is rendered in no
    /// version, or in several.
    pub(super) fn single(&self, kind: &GroupKind) -> Option<&Resource> {
        let mut versions = self.0.iter().filter(|((known, _), _)| known == kind);
        match (versions.next(), versions.next()) {
            (Some((_, Served::Yes(resource))), None) => Some(resource),
            _ => None,
        }
    }
}
