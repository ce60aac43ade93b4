//! What goes along with a deletion: whatever descends from the object, by owner references.

mod family;
mod home;
mod lineage;

pub use home::Home;
pub use lineage::Lineage;

use windlass_model::Object;

use crate::{Cluster, ClusterError};

impl Cluster {
    /// Reads who descends from whom in a home: pods, claims, StatefulSets and ReplicaSets, over as many generations as
    /// there are, and the namespaces where the home is the whole cluster. Costs a LIST for each of these kinds, and for
    /// the owners between them a LIST a kind, or a GET or two; `known` are owners that need not be read again.
    ///
    /// # Errors
    /// What lives there cannot be listed. An owner that cannot be read is no error but a [doubt](Lineage::doubt).
    pub async fn lineage(&self, home: &Home, known: &[&Object]) -> Result<Lineage, ClusterError> {
        let mut family = family::Family::read(self, home).await?;
        family.complete(known).await?;
        Ok(family.lineage())
    }
}
