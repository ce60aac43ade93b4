//! Growing claims, and changing what a StatefulSet claims.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::Bed;

fn class(bed: &mut Bed, name: &str, grows: bool) -> String {
    let name = format!("{name}-{}", bed.suffix);
    let body = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": "example.com/none", "allowVolumeExpansion": grows});
    bed.kubectl(&["create", "-f", "-"], &body.to_string());
    bed.leftovers.push(("storageclass".into(), name.clone()));
    name
}

/// A claim that is bound, as the server asks for before it lets one grow.
fn bound(bed: &mut Bed, name: &str, class: &str) -> impl Fn(&str) -> Value + use<> {
    let volume = format!("{name}-{}", bed.suffix);
    let body = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
        "spec": {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": class,
            "claimRef": {"namespace": bed.namespace, "name": name}, "hostPath": {"path": "/nowhere"}}});
    bed.kubectl(&["create", "-f", "-"], &body.to_string());
    bed.leftovers.push(("persistentvolume".into(), volume.clone()));
    let (name, namespace, class) = (name.to_owned(), bed.namespace.clone(), class.to_owned());
    move |size| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class, "volumeName": volume,
                "resources": {"requests": {"storage": size}}}})
    }
}

#[tokio::test]
async fn a_claim_grows_where_its_class_allows_it_and_never_shrinks() {
    let mut bed = Bed::new().await;
    let (fast, fixed) = (class(&mut bed, "fast", true), class(&mut bed, "fixed", false));
    let (grows, stays) = (bound(&mut bed, "grows", &fast), bound(&mut bed, "stays", &fixed));
    bed.deliver(&[("shop", &[grows("2Gi"), stays("2Gi")])]).await;
    for name in ["grows", "stays"] {
        let phase = "--for=jsonpath={.status.phase}=Bound";
        bed.kubectl(&["-n", &bed.namespace, "wait", phase, "--timeout=60s", &format!("pvc/{name}")], "");
    }
    let larger = ["update PersistentVolumeClaim/grows", "grows from 2 GiB to 4 GiB", "allows growth"];
    let refused = ["update PersistentVolumeClaim/stays", "problem the claim cannot grow", &fixed];
    let plan = bed.check(&[grows("4Gi"), stays("4Gi")], &[&larger, &refused]).await;
    // The server calls it a missing right: its administrator would have looked in the wrong place.
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    let smaller = ["recreate PersistentVolumeClaim/grows", "problem immutable", "never shrinks"];
    bed.check(&[grows("1Gi"), stays("2Gi")], &[&smaller, &["no-op"]]).await;
    // Nor does it go back to its old size once it was asked to grow.
    bed.deliver(&[("shop", &[grows("4Gi"), stays("2Gi")])]).await;
    bed.check(&[grows("2Gi"), stays("2Gi")], &[&smaller, &["no-op"]]).await;
}

/// The server calls it a missing right, and the class that it speaks of has no name.
#[tokio::test]
async fn a_claim_of_a_static_volume_does_not_grow() {
    let mut bed = Bed::new().await;
    let by_hand = bound(&mut bed, "static", "");
    bed.deliver(&[("shop", &[by_hand("2Gi")])]).await;
    let phase = "--for=jsonpath={.status.phase}=Bound";
    bed.kubectl(&["-n", &bed.namespace, "wait", phase, "--timeout=60s", "pvc/static"], "");
    let refused =
        ["update PersistentVolumeClaim/static", "cannot grow: it has no class, and a static volume"];
    let plan = bed.check(&[by_hand("4Gi")], &[&refused]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
}

/// Facts 10.3: the server names only `spec`.
#[tokio::test]
async fn class_and_modes_of_a_bound_claim_stay_as_they_are() {
    let mut bed = Bed::new().await;
    let (fast, other) = (class(&mut bed, "fast", true), class(&mut bed, "other", true));
    let claim = bound(&mut bed, "data", &fast)("2Gi");
    bed.deliver(&[("shop", std::slice::from_ref(&claim))]).await;
    let phase = "--for=jsonpath={.status.phase}=Bound";
    bed.kubectl(&["-n", &bed.namespace, "wait", phase, "--timeout=60s", "pvc/data"], "");
    for (field, value) in [
        ("storageClassName", json!(other)),
        ("accessModes", json!(["ReadWriteMany"])),
        ("volumeMode", json!("Block")),
    ] {
        let mut changed = claim.clone();
        changed["spec"][field] = value;
        let want = ["recreate PersistentVolumeClaim/data", "problem immutable", &format!("spec.{field}")];
        bed.check(&[changed], &[&want]).await;
    }
}

#[tokio::test]
async fn refused_changes_of_a_stateful_set_come_with_the_way() {
    let mut bed = Bed::new().await;
    let fast = class(&mut bed, "fast", true);
    let set = |size: &str, service: &str, more: &[Value]| {
        let mut templates =
            vec![json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "storageClassName": fast, "resources": {"requests": {"storage": size}}}})];
        templates.extend(more.iter().cloned());
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": bed.namespace},
            "spec": {"serviceName": service, "replicas": 2, "selector": {"matchLabels": {"app": "db"}},
                "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "a", "image": "registry.example/db:1"}]}},
                "volumeClaimTemplates": templates}})
    };
    bed.deliver(&[("shop", &[set("1Gi", "db", &[])])]).await;
    let orphan = "delete statefulset.apps/db --cascade=orphan";
    let check = async |body: Value, want: &[&str]| {
        let mut all = vec!["recreate StatefulSet.apps/db", "problem immutable"];
        all.extend(want);
        bed.check(&[body], &[&all]).await;
    };
    check(set("2Gi", "db", &[]), &["data-db-0, data-db-1", "allows growth", orphan]).await;
    check(set("1Gi", "other", &[]), &[orphan, "no pod restarts"]).await;
    let wal = json!({"metadata": {"name": "wal"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    check(set("1Gi", "db", &[wal]), &[orphan, "141876"]).await;
}
