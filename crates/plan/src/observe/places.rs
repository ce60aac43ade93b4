//! Which namespaces there are.

use std::collections::BTreeMap;

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, Rendering};

use super::{Reader, tolerate};
use crate::ObjectKey;

/// The namespaces of the rendered objects that exist, with their metadata.
pub(super) struct Places(Option<BTreeMap<String, Object>>);

impl Places {
    /// Lists the namespaces; one that may not is told nothing.
    pub(super) async fn read(reader: &Reader<'_>, rendering: &Rendering) -> Result<Self, ClusterError> {
        let resource = reader.cluster.resource(&GroupKind::new("", "Namespace"), "v1").await?;
        let listed = tolerate(reader.cluster.list_metadata(&resource, Selector::default()).await)?;
        let wanted = |name: &str| {
            rendering.objects().any(|(_, object)| object.reference().namespace.as_deref() == Some(name))
        };
        Ok(Self(listed.ok().map(|listing| {
            let named = listing.objects.into_iter().map(|object| (object.reference().name.clone(), object));
            named.filter(|(name, _)| wanted(name)).collect()
        })))
    }

    /// Returns the namespaces, if they could be listed.
    pub(super) fn known(&self) -> Option<&BTreeMap<String, Object>> {
        self.0.as_ref()
    }

    /// Says whether the namespace of an object is known not to exist.
    pub(super) fn lacks(&self, key: &ObjectKey) -> bool {
        match (&self.0, &key.namespace) {
            (Some(known), Some(namespace)) => !known.contains_key(namespace),
            _ => false,
        }
    }
}
