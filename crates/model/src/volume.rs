//! Volumes that outlive the claims they are bound to, and those that do not.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Object;

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

/// A PersistentVolume whose data is lost when the claim that it is bound to goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DestroyedVolume {
    /// The claim's namespace.
    pub namespace: String,
    /// The claim's name.
    pub claim: String,
    /// The volume's name; empty where it was not looked up.
    pub name: String,
}

impl fmt::Display for DestroyedVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, claim, name } = self;
        let space = if name.is_empty() { "" } else { " " };
        write!(f, "the volume{space}{name} of PersistentVolumeClaim {namespace}/{claim}")
    }
}

impl DestroyedVolume {
    /// Names the volume of a claim, if the claim is bound to one.
    pub fn of(claim: &Object) -> Option<Self> {
        Some(Self {
            namespace: claim.reference().namespace.clone()?,
            claim: claim.reference().name.clone(),
            name: claim.body().pointer("/spec/volumeName")?.as_str()?.to_owned(),
        })
    }
}
