//! What can hold data in a namespace.

use windlass_model::{GroupKind, Object, ObjectRef, holds_data};

use crate::{Cluster, ClusterError, Selector};

impl Cluster {
    /// Returns what can hold data in a namespace, whoever made it: a namespace takes everything along. Left out are
    /// what a controller puts into every namespace and what is being deleted already. Costs a LIST for each such kind
    /// that the server serves.
    ///
    /// # Errors
    /// The first failure: a kind that cannot be listed may have objects.
    pub async fn residents(&self, namespace: &str) -> Result<Vec<ObjectRef>, ClusterError> {
        let mut found = Vec::new();
        for (kind, namespaced) in self.scopes().await? {
            if namespaced && (holds_data(&kind) || kind.is("", "ConfigMap")) {
                let objects = self.all_of(namespace, &kind).await?;
                let stays =
                    |object: &&Object| !is_made_for_every_namespace(object) && !object.is_terminating();
                let own = objects.iter().filter(stays);
                found.extend(own.map(|object| object.reference().clone()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Lists what there is of a kind in a namespace.
    async fn all_of(&self, namespace: &str, kind: &GroupKind) -> Result<Vec<Object>, ClusterError> {
        let listed = match self.preferred(kind).await {
            Ok(resource) if !resource.is_prunable() => return Ok(Vec::new()),
            Ok(_) => {
                self.list_kind(kind, Selector { namespace: Some(namespace), ..Selector::default() }).await
            }
            Err(error) => Err(error),
        };
        match listed {
            Ok((_, listing)) => Ok(listing.objects),
            Err(ClusterError::UnknownKind { stale: false, .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Says whether a controller puts such an object into every namespace. Token Secrets are made by people (KEP-2799).
fn is_made_for_every_namespace(object: &Object) -> bool {
    object.reference().kind.is("", "ConfigMap") && object.reference().name == "kube-root-ca.crt"
}
