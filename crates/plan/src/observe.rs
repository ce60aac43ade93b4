//! All input and output of the stage.

use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{EnvironmentName, Rendering};

use crate::Observation;

/// How to observe.
#[derive(Debug, Clone, Copy)]
pub struct ObserveOptions {
    /// How many requests may be prepared at once; the connection has its own limit.
    pub concurrency: usize,
}

/// Reads the sets and the live objects, and asks the server about every object by a dry-run.
///
/// A failure that concerns one object is part of the observation, so that it never hides the others.
///
/// # Errors
/// Failures that concern everything: no connection, no valid credentials, no discovery, no right to read the sets.
#[expect(clippy::unused_async, reason = "the body follows")]
pub async fn observe(
    _cluster: &Cluster,
    _environment: Option<&EnvironmentName>,
    _record_namespace: &str,
    _rendering: &Rendering,
    _options: &ObserveOptions,
) -> Result<Observation, ClusterError> {
    Ok(Observation::default())
}
