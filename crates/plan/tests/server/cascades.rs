//! What goes along with a deletion, followed by owner references.

use serde_json::{Value, json};
use windlass_model::{Forecast, Plan, Reversal};

use crate::bed::Bed;

fn uid(bed: &Bed, kind: &str, name: &str) -> String {
    bed.kubectl(&["-n", &bed.namespace, "get", kind, name, "-o", "jsonpath={.metadata.uid}"], "")
}

fn owned(mut body: Value, api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    body["metadata"]["ownerReferences"] =
        json!([{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}]);
    body
}

pub(crate) fn cascade(plan: &Plan, name: &str) -> (usize, usize, usize, u64) {
    let action = plan.actions.iter().find(|action| action.object.name == name).unwrap();
    let counted = action.forecasts.iter().find_map(|forecast| match forecast {
        Forecast::Cascade { pods, claims, volumes, bytes, .. } => Some((*pods, *claims, *volumes, *bytes)),
        _ => None,
    });
    counted.unwrap_or_else(|| panic!("{:?}", action.forecasts))
}

fn volume(name: &str, policy: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {"capacity": {"storage": "8Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": name,
            "persistentVolumeReclaimPolicy": policy, "hostPath": {"path": "/nowhere"}}})
}

fn claim(bed: &Bed, name: &str, volume: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": bed.namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": volume, "volumeName": volume,
            "resources": {"requests": {"storage": "8Gi"}}}})
}

/// `- Database prod` is one line of a diff, and three pods with all their data: over an intermediate owner of a kind
/// that nobody listed.
#[tokio::test]
async fn a_custom_resource_is_followed_to_its_volumes() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let definition = |plural: &str, kind: &str| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    };
    for (plural, kind) in [("databases", "Database"), ("podsets", "PodSet")] {
        bed.kubectl(&["apply", "-f", "-"], &definition(plural, kind).to_string());
        bed.leftovers.push(("customresourcedefinition".into(), format!("{plural}.{group}")));
        bed.cluster.forget_discovery().await;
        crate::bed::served(&bed, &group, kind).await;
    }
    let api_version = format!("{group}/v1");
    let object = |kind: &str, name: &str| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": bed.namespace}});
    let (stays, database) = (bed.config("stays", &json!({})), object("Database", "prod"));
    bed.deliver(&[("shop", &[stays.clone(), database])]).await;
    let database = uid(&bed, &format!("databases.{group}"), "prod");
    let between = owned(object("PodSet", "prod-set"), &api_version, "Database", "prod", &database);
    bed.kubectl(&["create", "-f", "-"], &between.to_string());
    let between = uid(&bed, &format!("podsets.{group}"), "prod-set");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "prod-0", "namespace": bed.namespace},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "a", "image": "registry.example/a:1"}]}});
    let pod = owned(pod, &api_version, "PodSet", "prod-set", &between);
    bed.kubectl(&["create", "-f", "-"], &pod.to_string());
    for (suffix, policy) in [("lost", "Delete"), ("kept", "Retain")] {
        let name = format!("{suffix}-{}", bed.suffix);
        bed.leftovers.push(("persistentvolume".into(), name.clone()));
        bed.kubectl(&["create", "-f", "-"], &volume(&name, policy).to_string());
        let claim = owned(claim(&bed, suffix, &name), &api_version, "Database", "prod", &database);
        bed.kubectl(&["create", "-f", "-"], &claim.to_string());
    }
    bed.kubectl(&["create", "-f", "-"], &claim(&bed, "foreign", "none").to_string());
    let plan = bed.check(&[stays], &[&["no-op"], &["prune Database"], &["refused protected-kind"]]).await;
    assert_eq!(cascade(&plan, "prod"), (1, 2, 1, 8 << 30));
    assert!(matches!(plan.actions[1].reversal(), Reversal::No(_)), "{:?}", plan.actions[1].reversal());
}

#[tokio::test]
async fn a_deployment_takes_its_pods_along_and_nothing_else() {
    let bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}}}});
    bed.deliver(&[("shop", &[stays.clone(), web])]).await;
    let count = || {
        bed.kubectl(&["-n", &bed.namespace, "get", "pods", "-l", "app=web", "-o", "name"], "").lines().count()
    };
    for attempt in 0.. {
        if count() == 2 {
            break;
        }
        assert!(attempt < 200, "the pods are never made");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let plan = bed.check(&[stays], &[&["no-op"], &["prune Deployment", "takes along 2 pods"]]).await;
    assert_eq!(cascade(&plan, "web"), (2, 0, 0, 0));
    assert_eq!(plan.actions[1].reversal(), Reversal::Yes);
}
