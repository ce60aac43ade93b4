//! The definitions of the rendered custom kinds.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use windlass_cluster::{ClusterError, Resource};
use windlass_model::GroupKind;

use super::age::latest_in;
use crate::observe::Reader;
use crate::observe::catalog::Catalog;

/// What is known of the definitions.
#[derive(Default)]
pub(super) struct Definitions {
    /// The kinds whose objects no webhook converts, each with its definition in the present version.
    pub(super) pure: BTreeMap<GroupKind, String>,
    /// When one of them was changed last.
    pub(super) latest: Option<Timestamp>,
}

/// The part of a CustomResourceDefinition that matters here: schemas can be megabytes.
#[derive(Deserialize)]
struct Part {
    metadata: Value,
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    conversion: Option<Conversion>,
}

#[derive(Deserialize)]
struct Conversion {
    strategy: String,
}

/// Reads the definition of every rendered kind whose group looks like somebody's own. A kind without one is served by
/// another API server, or built in.
pub(super) async fn read(reader: &Reader<'_>, catalog: &Catalog) -> Result<Definitions, ClusterError> {
    let kind = GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition");
    let definitions = reader.cluster.resource(&kind, "v1").await?;
    let custom: BTreeMap<&GroupKind, &Resource> = catalog
        .served()
        .filter(|resource| !super::BUILT_IN.contains(&resource.kind.group.as_str()))
        .map(|resource| (&resource.kind, resource))
        .collect();
    let parts: Vec<(GroupKind, Option<Part>)> = stream::iter(custom)
        .map(|(kind, resource)| {
            let definitions = &definitions;
            async move {
                let name = format!("{}.{}", resource.plural, kind.group);
                let part = reader.cluster.get_part::<Part>(definitions, None, &name).await?;
                Ok::<_, ClusterError>((kind.clone(), part))
            }
        })
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await?;
    let mut found = Definitions::default();
    for (kind, part) in parts {
        let Some(part) = part else { continue };
        found.latest = found.latest.max(latest_in(&part.metadata));
        if part.spec.conversion.as_ref().is_none_or(|conversion| conversion.strategy == "None") {
            found.pure.insert(kind, format!("{} {}", part.metadata["uid"], part.metadata["generation"]));
        }
    }
    Ok(found)
}
