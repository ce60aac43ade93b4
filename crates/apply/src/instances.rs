//! What exists of a definition that is about to be deleted.

use windlass_cluster::ClusterError;
use windlass_model::{GroupKind, Object, ObjectRef, defined_kind};

use crate::Context;
use crate::definition::{is_established, served_versions};
use crate::failure::is_unanswered;

/// Returns why a definition must stay because of its objects, if it is one and must: they would go with it, also those
/// that were made after the plan looked. What the server does not tell counts as there.
///
/// # Errors
/// The server gave no answer.
pub(crate) async fn reason(live: &Object, context: &Context<'_>) -> Result<Option<String>, ClusterError> {
    let Some(kind) = defined_kind(live) else { return Ok(None) };
    match first(&kind, context).await {
        Ok(object) => {
            Ok(object.map(|object| format!("objects of its kind exist and would go with it: {object}")))
        }
        // The server never took the kind up, so that nobody can have made one.
        Err(ClusterError::UnknownKind { stale: false, .. }) if serves(live) && !is_established(live) => {
            Ok(None)
        }
        Err(error) if is_unanswered(&error) => Err(error),
        Err(error) => Ok(Some(format!("whether objects of its kind exist cannot be told: {error}"))),
    }
}

async fn first(kind: &GroupKind, context: &Context<'_>) -> Result<Option<ObjectRef>, ClusterError> {
    let resource = context.cluster.preferred(kind).await?;
    context.cluster.first(&resource).await
}

fn serves(definition: &Object) -> bool {
    served_versions(definition).next().is_some()
}
