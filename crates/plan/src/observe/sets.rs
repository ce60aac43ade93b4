//! Reading the ApplySets of an environment.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{ApplySet, EnvironmentName, GroupKind, Object, Rendering};

use super::Reader;
use crate::UnreadableParent;

/// The sets of an environment.
#[derive(Default)]
pub(super) struct Sets {
    pub(super) readable: Vec<ApplySet>,
    /// The parents of those.
    pub(super) parents: Option<Vec<Object>>,
    pub(super) unreadable: Vec<UnreadableParent>,
}

/// Reads all parents that carry the environment's label, and those that stand where a unit's parent belongs
/// without carrying it.
pub(super) async fn read(
    reader: &Reader<'_>,
    environment: &EnvironmentName,
    namespace: &str,
    rendering: &Rendering,
) -> Result<Sets, ClusterError> {
    let resource = reader.cluster.resource(&GroupKind::new("", "ConfigMap"), "v1").await?;
    let labels = ApplySet::parents_of(environment);
    let selector = Selector { namespace: Some(namespace), labels: Some(&labels), fields: None };
    let mut parents = reader.cluster.list(&resource, selector).await?.objects;
    let known: BTreeSet<String> = parents.iter().map(|parent| parent.reference().name.clone()).collect();
    let missing = rendering
        .units
        .iter()
        .map(|unit| ApplySet::empty(environment.clone(), unit.name.clone(), namespace).parent())
        .filter(|parent| !known.contains(&parent.name));
    let unlabelled: Vec<Option<Object>> =
        stream::iter(missing.map(|parent| async move { reader.cluster.get(&parent).await }))
            .buffer_unordered(reader.concurrency)
            .try_collect()
            .await?;
    parents.extend(unlabelled.into_iter().flatten());
    Ok(sort(&parents))
}

fn sort(parents: &[Object]) -> Sets {
    let mut sets = Sets::default();
    let mut usable = Vec::new();
    for parent in parents {
        match ApplySet::read(parent) {
            Ok(set) => {
                sets.readable.push(set);
                usable.push(parent.clone());
            }
            Err(error) => sets
                .unreadable
                .push(UnreadableParent { message: error.to_string(), hint: error.hint().to_owned() }),
        }
    }
    sets.parents = Some(usable);
    sets.readable.sort_by(|left, right| left.unit.cmp(&right.unit));
    sets.unreadable.sort_by(|left, right| left.message.cmp(&right.message));
    sets
}
