//! What descends from objects that may go.

use std::collections::BTreeMap;

use windlass_cluster::{ClusterError, Home, Lineage};
use windlass_model::Object;

use super::{Reader, tolerate};
use crate::{ObjectKey, kinds};

/// The objects that descend from those that may go.
#[derive(Default)]
pub(super) struct Descendants {
    /// All of them, or why they could not be found.
    pub(super) found: BTreeMap<ObjectKey, Result<Vec<Object>, String>>,
    /// What was found of those of which not all could be.
    pub(super) known: BTreeMap<ObjectKey, Vec<Object>>,
    /// All claims of the homes that were looked at.
    pub(super) claims: BTreeMap<ObjectKey, Object>,
}

/// Finds the pods, claims and StatefulSets that go along with what may go, and all of them with a namespace: each home is
/// read once.
pub(super) async fn find(reader: &Reader<'_>, going: &[Object]) -> Result<Descendants, ClusterError> {
    let mut homes: BTreeMap<Home, Vec<&Object>> = BTreeMap::new();
    for object in going {
        if let Some(home) = Home::of(object) {
            homes.entry(home).or_default().push(object);
        }
    }
    let mut descendants = Descendants::default();
    for (home, owners) in homes {
        let lineage = tolerate(reader.cluster.lineage(&home, &owners).await)?;
        for member in lineage.iter().flat_map(Lineage::members) {
            if kinds::is_claim(&member.reference().kind) {
                descendants.claims.insert(ObjectKey::from(member.reference()), member.clone());
            }
        }
        for owner in owners {
            let key = ObjectKey::from(owner.reference());
            let found = match &lineage {
                Ok(lineage) => {
                    let known = lineage.descendants(owner).cloned().collect();
                    match lineage.doubt(owner) {
                        None => Ok(known),
                        Some(reason) => {
                            descendants.known.insert(key.clone(), known);
                            Err(reason.to_owned())
                        }
                    }
                }
                Err(error) => Err(error.to_string()),
            };
            descendants.found.insert(key, found);
        }
    }
    Ok(descendants)
}
