//! Volumes that outlive the claims they are bound to, and those that do not.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

impl RetainedVolume {
    /// Returns, line by line, what a person types to bind a retained volume to a new claim of the same name. Each command
    /// is on a line of its own, so that it can be copied whatever stands before it.
    ///
    /// Only what ties the volume to the claim that is gone is taken out of its `claimRef`. The name stays and reserves the
    /// volume: without any `claimRef` the next claim of that class, whoever's it is, would be bound to the data.
    pub fn rebinding(&self) -> [String; 3] {
        let Self { name, namespace, claim, capacity, .. } = self;
        let reserve = json!({"spec": {"claimRef": {"uid": null, "resourceVersion": null}}});
        let new = json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim, "namespace": namespace},
            "spec": {
                "volumeName": name,
                "storageClassName": self.storage_class,
                "volumeMode": self.volume_mode,
                "accessModes": self.access_modes,
                "resources": {"requests": {"storage": capacity}},
            },
        });
        [
            format!(
                "PersistentVolume {name} ({capacity}) is kept, with the data of the claim {namespace}/{claim}; to bind it again:"
            ),
            format!("kubectl patch persistentvolume {name} --type=merge -p '{reserve}'"),
            format!("echo '{new}' | kubectl apply -f -"),
        ]
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_claim_says_what_the_volume_asks_for() {
        let volume = RetainedVolume {
            name: "pv-1".into(),
            uid: "u".into(),
            namespace: "shop".into(),
            claim: "data-db-0".into(),
            capacity: "8Gi".into(),
            access_modes: vec!["ReadWriteOnce".into(), "ReadOnlyMany".into()],
            storage_class: String::new(),
            volume_mode: "Filesystem".into(),
        };
        let text = volume.rebinding().join("\n");
        for want in [
            "data of the claim shop/data-db-0",
            // The name of the claim stays, so that no other claim is bound to the data.
            r#"kubectl patch persistentvolume pv-1 --type=merge -p '{"spec":{"claimRef":{"resourceVersion":null,"uid":null}}}'"#,
            r#""metadata":{"name":"data-db-0","namespace":"shop"}"#,
            r#""volumeName":"pv-1""#,
            // Without a class, a claim that names none would get the default one.
            r#""storageClassName":"""#,
            r#""accessModes":["ReadWriteOnce","ReadOnlyMany"]"#,
            r#"{"storage":"8Gi"}"#,
        ] {
            assert!(text.contains(want), "{text} lacks {want}");
        }
    }
}
