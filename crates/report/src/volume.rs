//! How a volume that outlived its claim is bound again.

use serde_json::json;
use windlass_model::RetainedVolume;

use crate::clean;

/// Returns, line by line, what a person types to bind a retained volume to a new claim of the same name. Each command
/// is on a line of its own, so that it can be copied whatever stands before it.
///
/// Only what ties the volume to the claim that is gone is taken out of its `claimRef`. The name stays and reserves the
/// volume: without any `claimRef` the next claim of that class, whoever's it is, would be bound to the data.
pub fn rebinding_lines(volume: &RetainedVolume) -> Vec<String> {
    let RetainedVolume { name, namespace, claim, capacity, .. } = volume;
    let reserve = json!({"spec": {"claimRef": {"uid": null, "resourceVersion": null}}});
    let new = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "namespace": namespace},
        "spec": {
            "volumeName": name,
            "storageClassName": volume.storage_class,
            "volumeMode": volume.volume_mode,
            "accessModes": volume.access_modes,
            "resources": {"requests": {"storage": capacity}},
        },
    });
    let lines = [
        format!(
            "PersistentVolume {name} ({capacity}) is kept, with the data of the claim {namespace}/{claim}; to bind it again:"
        ),
        format!("kubectl patch persistentvolume {name} --type=merge -p '{reserve}'"),
        format!("echo '{new}' | kubectl apply -f -"),
    ];
    lines.iter().map(|line| clean(line)).collect()
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
        let text = rebinding_lines(&volume).join("\n");
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
