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

/// Custom resources: `Database`, `PodSet` between it and what it makes, and `Tenant`, which lives in no namespace.
struct Operator {
    bed: Bed,
    group: String,
}

impl Operator {
    async fn new() -> Self {
        let mut bed = Bed::new().await;
        let group = format!("g{}.example.com", bed.suffix);
        for (plural, kind, scope) in [
            ("databases", "Database", "Namespaced"),
            ("podsets", "PodSet", "Namespaced"),
            ("tenants", "Tenant", "Cluster"),
        ] {
            let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
            let names = json!({"kind": kind, "plural": plural});
            let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": format!("{plural}.{group}")},
                "spec": {"group": group, "scope": scope, "names": names, "versions": [version]}});
            bed.kubectl(&["apply", "-f", "-"], &definition.to_string());
            bed.leftovers.push(("customresourcedefinition".into(), format!("{plural}.{group}")));
            bed.cluster.forget_discovery().await;
            crate::bed::served(&bed, &group, kind).await;
        }
        Self { bed, group }
    }

    /// Delivers a `Database`, whose `PodSet` owns a claim, and a ConfigMap that is returned.
    async fn with_a_claim_below() -> (Self, Value) {
        let mut operator = Self::new().await;
        let stays = operator.bed.config("stays", &json!({}));
        operator.bed.deliver(&[("shop", &[stays.clone(), operator.object("Database", "prod")])]).await;
        operator.make(operator.object("PodSet", "prod-set"), "Database", "prod");
        let name = operator.volume("lost", "Delete");
        operator.make(claim(&operator.bed, "lost", &name), "PodSet", "prod-set");
        (operator, stays)
    }

    fn object(&self, kind: &str, name: &str) -> Value {
        json!({"apiVersion": format!("{}/v1", self.group), "kind": kind,
            "metadata": {"name": name, "namespace": self.bed.namespace}})
    }

    /// Creates what a custom resource owns.
    fn make(&self, body: Value, kind: &str, name: &str) {
        let uid = uid(&self.bed, &format!("{}s.{}", kind.to_lowercase(), self.group), name);
        let body = owned(body, &format!("{}/v1", self.group), kind, name, &uid);
        self.bed.kubectl(&["create", "-f", "-"], &body.to_string());
    }

    /// Creates a volume of 8 GiB and returns its name.
    fn volume(&mut self, prefix: &str, policy: &str) -> String {
        let name = format!("{prefix}-{}", self.bed.suffix);
        self.bed.leftovers.push(("persistentvolume".into(), name.clone()));
        self.bed.kubectl(&["create", "-f", "-"], &volume(&name, policy).to_string());
        name
    }
}

/// `- Database prod` is one line of a diff, and three pods with all their data: over an intermediate owner of a kind
/// that nobody listed.
#[tokio::test]
async fn a_custom_resource_is_followed_to_its_volumes() {
    let mut operator = Operator::new().await;
    let stays = operator.bed.config("stays", &json!({}));
    operator.bed.deliver(&[("shop", &[stays.clone(), operator.object("Database", "prod")])]).await;
    operator.make(operator.object("PodSet", "prod-set"), "Database", "prod");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "prod-0", "namespace": operator.bed.namespace},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "a", "image": "registry.example/a:1"}]}});
    operator.make(pod, "PodSet", "prod-set");
    for (suffix, policy) in [("lost", "Delete"), ("kept", "Retain")] {
        let name = operator.volume(suffix, policy);
        operator.make(claim(&operator.bed, suffix, &name), "Database", "prod");
    }
    let bed = &operator.bed;
    bed.kubectl(&["create", "-f", "-"], &claim(bed, "foreign", "none").to_string());
    let plan = bed.check(&[stays], &[&["no-op"], &["prune Database"], &["refused protected-kind"]]).await;
    assert_eq!(cascade(&plan, "prod"), (1, 2, 1, 8 << 30));
    let destroyed: Vec<&str> = plan.actions[1].destroys.iter().map(|volume| volume.claim.as_str()).collect();
    assert_eq!(destroyed, ["lost"]);
    assert!(matches!(plan.actions[1].reversal(), Reversal::No(_)), "{:?}", plan.actions[1].reversal());
}

/// The claims are nobody's but the set's, which deletes them with itself.
#[tokio::test]
async fn a_resource_takes_the_claims_of_its_stateful_set_along() {
    let mut operator = Operator::new().await;
    let stays = operator.bed.config("stays", &json!({}));
    operator.bed.deliver(&[("shop", &[stays.clone(), operator.object("Database", "prod")])]).await;
    let labels = json!({"app": "prod"});
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "prod", "namespace": operator.bed.namespace},
        "spec": {"replicas": 0, "serviceName": "prod", "selector": {"matchLabels": labels},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
            "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "8Gi"}}}}]}});
    operator.make(set, "Database", "prod");
    let name = operator.volume("lost", "Delete");
    let bed = &operator.bed;
    bed.kubectl(&["create", "-f", "-"], &claim(bed, "data-prod-0", &name).to_string());
    let plan = bed.check(&[stays], &[&["no-op"], &["prune Database"], &["refused protected-kind"]]).await;
    assert_eq!(cascade(&plan, "prod"), (0, 1, 1, 8 << 30));
    let destroyed: Vec<&str> = plan.actions[1].destroys.iter().map(|volume| volume.claim.as_str()).collect();
    assert_eq!(destroyed, ["data-prod-0"]);
}

/// It owns objects of whichever namespace, and namespaces with whatever is in them; all that had counted as nothing.
#[tokio::test]
async fn a_resource_of_the_cluster_is_followed_into_namespaces() {
    let mut operator = Operator::new().await;
    let stays = operator.bed.config("stays", &json!({}));
    let mut tenant = operator.object("Tenant", "acme");
    tenant["metadata"] = json!({"name": "acme"});
    operator.bed.deliver(&[("shop", &[stays.clone(), tenant])]).await;
    let owned = format!("acme-{}", operator.bed.suffix);
    operator.bed.leftovers.push(("namespace".into(), owned.clone()));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": owned}});
    operator.make(namespace, "Tenant", "acme");
    let names = [operator.volume("inside", "Delete"), operator.volume("direct", "Delete")];
    let mut inside = claim(&operator.bed, "inside", &names[0]);
    inside["metadata"]["namespace"] = json!(owned);
    let bed = &operator.bed;
    bed.kubectl(&["create", "-f", "-"], &inside.to_string());
    operator.make(claim(bed, "direct", &names[1]), "Tenant", "acme");
    let everything = format!("everything in the namespace `{owned}`");
    let in_use = format!("refused namespace-in-use: the namespace `{owned}` would be deleted, and with it");
    let want: &[&[&str]] =
        &[&["no-op"], &["prune Tenant", &everything], &["refused protected-kind"], &[&in_use, "inside"]];
    let plan = bed.check(std::slice::from_ref(&stays), want).await;
    let taken: Vec<&str> = plan.actions[1].takes.iter().map(|taken| taken.name.as_str()).collect();
    assert_eq!(taken, [owned.as_str(), "inside"]);
    assert_eq!(cascade(&plan, "acme"), (0, 2, 2, 16 << 30));
    let mut destroyed: Vec<&str> =
        plan.actions[1].destroys.iter().map(|volume| volume.claim.as_str()).collect();
    destroyed.sort_unstable();
    assert_eq!(destroyed, ["direct", "inside"]);
    assert!(!plan.actions[1].uncounted);
    // What is to stay there is no less lost than with a namespace that is deleted by itself.
    let mut rendered = bed.config("rendered", &json!({}));
    rendered["metadata"]["namespace"] = json!(owned);
    let in_use = format!("the namespace `{owned}` would be deleted with what is to stay in it");
    let plan = bed.plan(&[("shop", &[stays, rendered])]).await;
    let refused = plan.refusals.iter().any(|refusal| refusal.message.starts_with(&in_use));
    assert!(refused, "{:?}", plan.refusals);
}

/// Owners were read one by one, and after a hundred no more: a namespace full of others hid the data.
#[tokio::test]
async fn a_crowded_namespace_hides_no_claim() {
    let (operator, stays) = Operator::with_a_claim_below().await;
    let bed = &operator.bed;
    let maps: Vec<Value> =
        (0..110).map(|number| bed.config(&format!("owner-{number}"), &json!({}))).collect();
    let list = |items: &[Value]| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    bed.kubectl(&["create", "-f", "-"], &list(&maps));
    let path = "jsonpath={range .items[*]}{.metadata.name}={.metadata.uid} {end}";
    let uids = bed.kubectl(&["-n", &bed.namespace, "get", "configmaps", "-o", path], "");
    let owners = uids.split_whitespace().filter_map(|pair| pair.split_once('='));
    let sets: Vec<Value> = owners
        .filter(|(name, _)| name.starts_with("owner-"))
        .map(|(name, uid)| {
            let labels = json!({"app": name});
            let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {"name": name, "namespace": bed.namespace},
                "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}}}});
            owned(set, "v1", "ConfigMap", name, uid)
        })
        .collect();
    assert_eq!(sets.len(), maps.len());
    bed.kubectl(&["create", "-f", "-"], &list(&sets));
    let plan = bed.check(&[stays], &[&["no-op"], &["prune Database"], &["refused protected-kind"]]).await;
    assert_eq!(cascade(&plan, "prod"), (0, 1, 1, 8 << 30));
}

#[tokio::test]
async fn an_owner_that_may_not_be_read_is_no_proof_that_nothing_goes_along() {
    let _no_kind_comes_that_may_not_be_listed = crate::sets::LISTS.lock().await;
    let (operator, stays) = Operator::with_a_claim_below().await;
    let kinds = "configmaps,secrets,namespaces,pods,persistentvolumeclaims,persistentvolumes,statefulsets.apps,replicasets.apps";
    let kinds = format!("{kinds},databases.{}", operator.group);
    let limited = operator.bed.as_identity("get,list,create,patch,delete", &kinds).await;
    let told = "what goes along with it could not be counted: whose PersistentVolumeClaim";
    let plan = limited
        .check(&[stays], &[&["no-op"], &["prune Database", told, "podsets"], &["refused protected-kind"]])
        .await;
    assert!(plan.actions[1].uncounted);
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
