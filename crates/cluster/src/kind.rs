//! Reading a kind while its definition may come, go or change.

use std::time::Duration;

use windlass_model::{GroupKind, Object, ObjectRef};

use crate::read::is_absence;
use crate::transport::Call;
use crate::{Cluster, ClusterError, Listing, Resource, Selector, path};

/// The waits before a kind is looked up again that discovery names and no path serves, or the other way round; each is
/// twice as long as the one before. The server tells of a definition in two places, one a moment after the other.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_millis(800);

impl Cluster {
    /// Returns one object, or `None` if there is none. A namespace or a kind that does not exist holds none; an object
    /// whose version is not served any more is still there, and comes in the version that the server prefers.
    pub async fn get(&self, object: &ObjectRef) -> Result<Option<Object>, ClusterError> {
        match self.served(&object.kind, &object.version).await {
            Ok(resource) => self.get_as(&resource, object.namespace.as_deref(), &object.name).await,
            Err(ClusterError::UnknownKind { stale: false, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Does what [`Cluster::get`] does for a kind that was looked up before. If no path serves it, nothing is concluded
    /// from that until it was looked up again.
    pub async fn get_as(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Object>, ClusterError> {
        let mut wait = FIRST_WAIT;
        let mut resource = resource.clone();
        loop {
            let call = Call::get(path::object(&resource, namespace, name));
            match self.transport.call(&call).await {
                Ok(reply) => return reply.object(&call.what()).map(Some),
                Err(error) if is_absence(&error) => return Ok(None),
                Err(error) if error.is_not_served() && wait <= LONGEST_WAIT => {
                    self.look_again(&mut wait).await;
                }
                Err(error) => return Err(error),
            }
            resource = match self.served(&resource.kind, &resource.version).await {
                Ok(resource) => resource,
                Err(ClusterError::UnknownKind { stale: false, .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
        }
    }

    /// Lists what there is of a kind in its preferred version.
    ///
    /// # Errors
    /// [`ClusterError::UnknownKind`] if the server does not serve the kind, also if it stops while this looks; whatever
    /// keeps it from being listed.
    pub async fn list_kind(
        &self,
        kind: &GroupKind,
        selector: Selector<'_>,
    ) -> Result<(Resource, Listing), ClusterError> {
        let mut wait = FIRST_WAIT;
        loop {
            let resource = self.preferred(kind).await?;
            match self.list(&resource, selector).await {
                Ok(listing) => return Ok((resource, listing)),
                Err(error) if error.is_not_served() && wait <= LONGEST_WAIT => {
                    self.look_again(&mut wait).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Lists what there is of a kind in a version that its definition says is served: the rest of the server may hear of it
    /// a moment later.
    ///
    /// # Errors
    /// [`ClusterError::UnknownKind`] if the server does not serve it then either; whatever keeps it from being listed.
    pub async fn list_defined(
        &self,
        kind: &GroupKind,
        version: &str,
        selector: Selector<'_>,
    ) -> Result<Listing, ClusterError> {
        let mut wait = FIRST_WAIT;
        loop {
            let listed = match self.resource(kind, version).await {
                Ok(resource) => self.list(&resource, selector).await,
                Err(error) => Err(error),
            };
            match listed {
                Err(error) if is_late(&error) && wait <= LONGEST_WAIT => self.look_again(&mut wait).await,
                listed => return listed,
            }
        }
    }

    async fn look_again(&self, wait: &mut Duration) {
        tokio::time::sleep(*wait).await;
        *wait *= 2;
        self.forget_discovery().await;
    }
}

fn is_late(error: &ClusterError) -> bool {
    error.is_not_served() || matches!(error, ClusterError::UnknownKind { stale: false, .. })
}
