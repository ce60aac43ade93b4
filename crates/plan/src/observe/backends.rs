//! The Services that rendered webhooks call.

use std::collections::BTreeSet;

use windlass_cluster::ClusterError;
use windlass_model::{ObjectRef, Rendering, webhook_backends};

use super::{Reader, tolerate};
use crate::ObjectKey;
use crate::evidence::Rendered;

/// Returns the Services that do not exist and that nobody renders. Most commits hold no webhook: then nothing is asked.
/// What cannot be read is not said to be absent.
pub(super) async fn absent(
    reader: &Reader<'_>,
    rendering: &Rendering,
    rendered: &Rendered,
) -> Result<BTreeSet<ObjectKey>, ClusterError> {
    let called: BTreeSet<ObjectRef> =
        rendering.objects().flat_map(|(_, object)| webhook_backends(object)).collect();
    let mut absent = BTreeSet::new();
    for backend in called {
        let key = ObjectKey::from(&backend);
        if !rendered.has(&key)
            && tolerate(reader.cluster.get(&backend).await)?.is_ok_and(|live| live.is_none())
        {
            absent.insert(key);
        }
    }
    Ok(absent)
}
