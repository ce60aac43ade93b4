//! The ways that plans name for changes of a StatefulSet that the server refuses, gone to their end.

use serde_json::{Value, json};

use crate::bed::{Bed, recipe};

/// A StatefulSet of two pods whose claims are provisioned.
struct Database {
    bed: Bed,
    class: String,
}

fn claim(class: &str, name: &str, size: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
        "resources": {"requests": {"storage": size}}}})
}

impl Database {
    async fn new() -> Self {
        let mut bed = Bed::new().await;
        let class = format!("orphans-{}", bed.suffix);
        let body = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
            "provisioner": "kubernetes.io/host-path", "allowVolumeExpansion": true});
        bed.kubectl(&["create", "-f", "-"], &body.to_string());
        bed.leftovers.push(("storageclass".into(), class.clone()));
        Self { bed, class }
    }

    fn set(&self, claims: &[Value]) -> Value {
        let mounts: Vec<Value> = claims
            .iter()
            .map(|claim| json!({"name": claim["metadata"]["name"], "mountPath": claim["metadata"]["name"]}))
            .collect();
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": self.bed.namespace},
            "spec": {"serviceName": "db", "replicas": 2, "selector": {"matchLabels": {"app": "db"}},
                "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "a", "image": "registry.example/db:1", "volumeMounts": mounts}]}},
                "volumeClaimTemplates": claims}})
    }

    /// Waits until both pods are ready, as the controller that has seen the live object counts.
    async fn ready(&self) {
        for attempt in 0.. {
            let path = "jsonpath={.status.readyReplicas} {.status.observedGeneration}/{.metadata.generation}";
            let status = self.bed.kubectl(&["-n", &self.bed.namespace, "get", "sts", "db", "-o", path], "");
            let seen = status.split_once(' ').and_then(|(_, seen)| seen.split_once('/'));
            if status.starts_with("2 ") && seen.is_some_and(|(seen, now)| seen == now) {
                return;
            }
            assert!(attempt < 300, "the pods are never ready: {status}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    fn uids(&self, kind: &str) -> String {
        let path = "jsonpath={range .items[*]}{.metadata.name}={.metadata.uid} {end}";
        self.bed.kubectl(&["-n", &self.bed.namespace, "get", kind, "-o", path], "")
    }

    /// Plans the change, deletes the StatefulSet as the plan says, delivers the same again and returns the uids of the
    /// pods before and after.
    async fn goes(&self, changed: Value, told: &[&str]) -> (String, String) {
        let before = self.uids("pods");
        let mut line = vec!["recreate StatefulSet.apps/db", "delete statefulset.apps/db --cascade=orphan"];
        line.extend(told);
        let plan = self.bed.check(std::slice::from_ref(&changed), &[&line]).await;
        let claims = self.uids("pvc");
        self.bed.carry_out(recipe(&plan.actions[0]).unwrap());
        assert_eq!(self.uids("pods"), before, "its pods go on running");
        assert_eq!(self.uids("pvc"), claims);
        self.bed.check(std::slice::from_ref(&changed), &[&["create StatefulSet.apps/db Server"]]).await;
        self.bed.deliver(&[("shop", &[changed])]).await;
        (before, self.uids("pods"))
    }
}

#[tokio::test]
async fn a_set_that_is_created_again_adopts_its_pods_without_a_restart() {
    let database = Database::new().await;
    let data = |size: &str| [claim(&database.class, "data", size)];
    let mut now = database.set(&data("1Gi"));
    now["spec"]["persistentVolumeClaimRetentionPolicy"] =
        json!({"whenDeleted": "Delete", "whenScaled": "Retain"});
    database.bed.deliver(&[("shop", std::slice::from_ref(&now))]).await;
    database.ready().await;
    for (pointer, value, told) in [
        ("/spec/serviceName", json!("other"), "no pod restarts"),
        ("/spec/podManagementPolicy", json!("Parallel"), "no pod restarts"),
        ("/spec/volumeClaimTemplates", json!(data("2Gi")), "grow each claim first"),
    ] {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        now.pointer_mut(parent).unwrap()[key] = value;
        let (before, _) = database.goes(now.clone(), &[told]).await;
        database.ready().await;
        assert_eq!(database.uids("pods"), before, "{pointer}");
    }
}

/// kubernetes issue 141876: the new claim never reaches the pods that run.
#[tokio::test]
async fn after_a_claim_template_was_added_each_pod_is_deleted_from_the_lowest_up() {
    let database = Database::new().await;
    let (data, wal) = (claim(&database.class, "data", "1Gi"), claim(&database.class, "wal", "1Gi"));
    database.bed.deliver(&[("shop", &[database.set(std::slice::from_ref(&data))])]).await;
    database.ready().await;
    database.goes(database.set(&[data, wal]), &["141876", "from the lowest ordinal up"]).await;
    for pod in ["db-0", "db-1"] {
        database.bed.kubectl(&["-n", &database.bed.namespace, "delete", "pod", pod, "--wait=true"], "");
        // The next one only once this one is back.
        for attempt in 0.. {
            let path = "jsonpath={.spec.volumes[*].name} {.status.conditions[?(@.type==\"Ready\")].status}";
            let arguments =
                ["-n", &database.bed.namespace, "get", "pod", pod, "--ignore-not-found", "-o", path];
            let seen = database.bed.kubectl(&arguments, "");
            if seen.contains("wal") && seen.ends_with("True") {
                break;
            }
            assert!(attempt < 300, "{pod}: {seen}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
    database.ready().await;
    assert!(database.uids("pvc").contains("wal-db-1="));
}

#[tokio::test]
async fn after_a_claim_template_was_removed_pods_are_replaced_and_the_claims_stay() {
    let database = Database::new().await;
    let (data, wal) = (claim(&database.class, "data", "1Gi"), claim(&database.class, "wal", "1Gi"));
    database.bed.deliver(&[("shop", &[database.set(&[data.clone(), wal])])]).await;
    database.ready().await;
    let (before, _) = database.goes(database.set(&[data]), &["the claims of `wal` stay, unused"]).await;
    for attempt in 0.. {
        let now = database.uids("pods");
        if now.matches('=').count() == 2 && before.split_whitespace().all(|pod| !now.contains(pod)) {
            break;
        }
        assert!(attempt < 300, "the pods are never replaced: {now}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(database.uids("pvc").contains("wal-db-1="));
}

/// Facts 10.10: claims name their StatefulSet as an owner only where its policy says so. The plan counts what the server
/// then does.
#[tokio::test]
async fn claims_go_with_their_set_where_its_policy_says_so() {
    for (policy, claims, told) in [
        ("Delete", 2, "takes along 2 pods and 2 claims; 2 GiB in 2 volumes destroyed"),
        ("Retain", 0, "its claims stay: data-db-*"),
    ] {
        let database = Database::new().await;
        let bed = &database.bed;
        let mut set = database.set(&[claim(&database.class, "data", "1Gi")]);
        set["spec"]["persistentVolumeClaimRetentionPolicy"] =
            json!({"whenDeleted": policy, "whenScaled": "Retain"});
        let stays = bed.config("stays", &json!({}));
        bed.deliver(&[("shop", &[stays.clone(), set])]).await;
        database.ready().await;
        let plan = bed
            .check(&[stays], &[&["no-op"], &["prune StatefulSet", told], &["refused protected-kind"]])
            .await;
        assert_eq!(crate::cascades::cascade(&plan, "db"), (2, claims, claims, (claims as u64) << 30));
        bed.kubectl(&["-n", &bed.namespace, "delete", "statefulset", "db", "--wait=false"], "");
        let volumes = || {
            let path = "jsonpath={range .items[*]}{.spec.claimRef.namespace}{\"\\n\"}{end}";
            let all = bed.kubectl(&["get", "pv", "-o", path], "");
            all.lines().filter(|namespace| *namespace == bed.namespace).count()
        };
        for attempt in 0.. {
            let left = (
                database.uids("pods").matches('=').count(),
                database.uids("pvc").matches('=').count(),
                volumes(),
            );
            if left == (0, 2 - claims, 2 - claims) {
                break;
            }
            assert!(attempt < 300, "{policy}: pods, claims and volumes that are left: {left:?}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}

/// Its pods would hang on to their names, and nothing would happen.
#[tokio::test]
async fn with_another_selector_a_set_is_scaled_to_nothing_first_and_its_claims_stay() {
    let database = Database::new().await;
    let mut set = database.set(&[claim(&database.class, "data", "1Gi")]);
    set["spec"]["persistentVolumeClaimRetentionPolicy"] =
        json!({"whenDeleted": "Delete", "whenScaled": "Delete"});
    database.bed.deliver(&[("shop", std::slice::from_ref(&set))]).await;
    database.ready().await;
    let claims = database.uids("pvc");
    set["spec"]["selector"]["matchLabels"]["tier"] = json!("data");
    set["spec"]["template"]["metadata"]["labels"]["tier"] = json!("data");
    let told = ["recreate StatefulSet", "immutable: spec.selector.matchLabels.tier", "scale to 0 first"];
    let plan = database.bed.check(std::slice::from_ref(&set), &[&told]).await;
    database.bed.carry_out(recipe(&plan.actions[0]).unwrap());
    assert_eq!(database.uids("pods"), "");
    database.bed.check(std::slice::from_ref(&set), &[&["create StatefulSet.apps/db Server"]]).await;
    database.bed.deliver(&[("shop", &[set])]).await;
    database.ready().await;
    assert_eq!(database.uids("pvc"), claims);
}
