//! Asking the server about deletions by dry-runs.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Propagation};
use windlass_model::{GroupKind, Object};

use super::{Reader, tolerate};
use crate::evidence::{Rendered, lacking};
use crate::{Candidate, ObjectKey, Observation, Removal};

/// Returns the members that are not rendered under their name, each with what the server says to its
/// deletion. A candidate whose evidence is incomplete anyway is not asked about.
pub(super) async fn candidates(
    reader: &Reader<'_>,
    observation: &Observation,
    rendered: &Rendered,
    members: BTreeMap<ObjectKey, Object>,
    prunable: &BTreeSet<GroupKind>,
) -> Result<Vec<Candidate>, ClusterError> {
    let unrendered = members.into_iter().filter(|(_, object)| !rendered.contains(object));
    let asked = unrendered.map(|(key, object)| {
        let mut candidate =
            Candidate { object, prunable: prunable.contains(&key.kind), removal: Removal::NotAsked };
        let member = lacking(&candidate, observation).is_none();
        async move {
            if member {
                candidate.removal = ask(reader, &candidate.object).await?;
            }
            Ok::<_, ClusterError>(candidate)
        }
    });
    let mut candidates: Vec<Candidate> =
        stream::iter(asked.collect::<Vec<_>>()).buffer_unordered(reader.concurrency).try_collect().await?;
    candidates.sort_by(|left, right| left.object.reference().cmp(right.object.reference()));
    Ok(candidates)
}

async fn ask(reader: &Reader<'_>, object: &Object) -> Result<Removal, ClusterError> {
    if reader.cluster.is_read_only() {
        return Ok(Removal::Accepted);
    }
    let resource = match tolerate(reader.cluster.resource_of(object.reference()).await)? {
        Ok(resource) => resource,
        Err(error) => return Ok(Removal::Failed(error.to_string())),
    };
    let answer = reader.cluster.delete(&resource, object, Propagation::Background, true).await;
    Ok(match tolerate(answer)? {
        // The kind may go just now, and the object with it.
        Err(error) if error.is_not_served() => {
            match tolerate(reader.cluster.get(object.reference()).await)? {
                Ok(None) => Removal::Accepted,
                Ok(Some(_)) | Err(_) => Removal::Failed(error.to_string()),
            }
        }
        // Gone or replaced meanwhile: the real deletion has the same preconditions and finds out again.
        Ok(_) => Removal::Accepted,
        Err(ClusterError::Api { failure, .. }) => Removal::Refused(*failure),
        Err(error) => Removal::Failed(error.to_string()),
    })
}
