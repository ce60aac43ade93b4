//! Volumes that outlive the claims they are bound to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PersistentVolume whose reclaim policy is set to `Retain` before the claim it is bound to is deleted. Holds what a
/// new claim must say to be bound to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetainedVolume {
    /// The volume's name.
    pub name: String,
    /// The volume's uid.
    pub uid: String,
    /// The claim's namespace.
    pub namespace: String,
    /// The claim's name.
    pub claim: String,
    /// The size, such as `8Gi`.
    pub capacity: String,
    /// The access modes, such as `ReadWriteOnce`.
    pub access_modes: Vec<String>,
    /// The storage class; empty if the volume has none.
    pub storage_class: String,
    /// `Filesystem` or `Block`.
    pub volume_mode: String,
}
