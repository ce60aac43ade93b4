//! What can hold data in a namespace.

use windlass_model::{GroupKind, Object, ObjectRef, holds_data};

use crate::{Cluster, ClusterError, FailureKind, Selector};

/// How often a kind is looked up that the server has just named and then does not serve.
const LOOK_UPS: u32 = 3;

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

    /// Lists what there is of a kind in a namespace. A kind whose definition goes meanwhile, or changes its versions, is
    /// looked up again.
    async fn all_of(&self, namespace: &str, kind: &GroupKind) -> Result<Vec<Object>, ClusterError> {
        let selector = Selector { namespace: Some(namespace), ..Selector::default() };
        let mut attempt = 1;
        loop {
            let resource = match self.preferred(kind).await {
                Ok(resource) if resource.is_prunable() => resource,
                Ok(_) | Err(ClusterError::UnknownKind { stale: false, .. }) => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            match self.list(&resource, selector).await {
                Ok(listing) => return Ok(listing.objects),
                Err(error) if is_not_served(&error) && attempt < LOOK_UPS => {
                    self.forget_discovery().await;
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_not_served(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| failure.kind() == FailureKind::KindNotServed)
}

/// Says whether a controller puts such an object into every namespace. Token Secrets are made by people (KEP-2799).
fn is_made_for_every_namespace(object: &Object) -> bool {
    object.reference().kind.is("", "ConfigMap") && object.reference().name == "kube-root-ca.crt"
}
