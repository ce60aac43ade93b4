//! What a whole plan restarts and takes along.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all actions of a plan together restart and take along, each thing counted once: a volume that goes with its
/// claim, with the StatefulSet that owns the claim, and with their namespace is one volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Toll {
    /// Pods that are replaced.
    pub restarted_pods: usize,
    /// Objects whose pods may be replaced too, as many as an operator or another controller decides.
    pub uncounted_restarts: usize,
    /// Pods that go and do not come back.
    pub deleted_pods: usize,
    /// Deleted objects of which it could not be counted what goes along.
    #[serde(default)]
    pub uncounted_deletions: usize,
    /// PersistentVolumeClaims that go.
    pub deleted_claims: usize,
    /// Volumes that are destroyed with their data.
    pub destroyed_volumes: usize,
    /// The bytes that the destroyed volumes hold at most, as far as their sizes are known.
    pub destroyed_bytes: u64,
}
