//! Which namespaces there are.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, Rendering};

use super::{Reader, tolerate};
use crate::ObjectKey;

/// The namespaces that exist, as far as somebody asks about them.
pub(super) struct Places {
    /// Those of the rendered objects, with their metadata; `None` if namespaces may not be listed.
    known: Option<BTreeMap<String, Object>>,
    /// The one that would stand in for others.
    stand_in: Option<Object>,
}

impl Places {
    /// Lists the namespaces; one that may not is told nothing.
    pub(super) async fn read(
        reader: &Reader<'_>,
        rendering: &Rendering,
        stand_in: &str,
    ) -> Result<Self, ClusterError> {
        let resource = reader.cluster.resource(&GroupKind::new("", "Namespace"), "v1").await?;
        let listed = tolerate(reader.cluster.list_metadata(&resource, Selector::default()).await)?;
        let wanted: BTreeSet<&str> =
            rendering.objects().filter_map(|(_, object)| object.reference().namespace.as_deref()).collect();
        let Ok(listing) = listed else { return Ok(Self { known: None, stand_in: None }) };
        let mut known: BTreeMap<String, Object> =
            listing.objects.into_iter().map(|object| (object.reference().name.clone(), object)).collect();
        let stand_in = known.get(stand_in).cloned();
        known.retain(|name, _| wanted.contains(name.as_str()));
        Ok(Self { known: Some(known), stand_in })
    }

    /// Returns the namespaces, if they could be listed.
    pub(super) fn known(&self) -> Option<&BTreeMap<String, Object>> {
        self.known.as_ref()
    }

    /// Says whether the namespace of an object is known not to exist.
    pub(super) fn lacks(&self, key: &ObjectKey) -> bool {
        match (&self.known, &key.namespace) {
            (Some(known), Some(namespace)) => !known.contains_key(namespace),
            _ => false,
        }
    }

    /// Says whether objects can be created in the namespace that would stand in.
    pub(super) fn has_stand_in(&self) -> bool {
        self.stand_in.as_ref().is_some_and(|namespace| !namespace.is_terminating())
    }
}
