//! What exists of a definition that is about to be deleted.

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, ObjectRef, defined_kind};

use crate::Context;
use crate::definition::served_versions;

/// Returns why a definition must stay because of its objects, if it is one and must: they would go with it, also those
/// that were made after the plan looked. What cannot be told counts as there.
pub(crate) async fn reason(live: &Object, context: &Context<'_>) -> Option<String> {
    let kind = defined_kind(live)?;
    match first(&kind, context).await {
        Ok(object) => {
            object.map(|object| format!("objects of its kind exist and would go with it: {object}"))
        }
        // The server never took the kind up, so that nobody can have made one.
        Err(ClusterError::UnknownKind { stale: false, .. }) if served_versions(live).next().is_some() => None,
        Err(error) => Some(format!("whether objects of its kind exist cannot be told: {error}")),
    }
}

async fn first(kind: &GroupKind, context: &Context<'_>) -> Result<Option<ObjectRef>, ClusterError> {
    let resource = context.cluster.preferred(kind).await?;
    let objects = context.cluster.list_metadata(&resource, Selector::default()).await?.objects;
    Ok(objects.first().map(|object| object.reference().clone()))
}
