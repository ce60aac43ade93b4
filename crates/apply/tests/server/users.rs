//! Pods that still use what is to be deleted.

use std::time::Duration;

use serde_json::json;
use windlass_apply::{Pruned, apply, prune_within};
use windlass_cluster::Propagation;
use windlass_model::{GroupKind, Object, ObjectRef, Rendering};

use crate::bed::{Bed, object};
use crate::plan::{approve, plan, rendering};

/// A StatefulSet of one pod that mounts a ConfigMap and keeps its revision below the partition.
fn database(bed: &Bed, config: &str, partition: u8) -> Object {
    object(json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": bed.namespace},
        "spec": {
            "serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"rollingUpdate": {"partition": partition}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "db", "image": "registry.example/db:1"}],
                    "volumes": [{"name": "conf", "configMap": {"name": config}}],
                },
            },
        },
    }))
}

/// Waits until the pod runs with a ConfigMap.
async fn runs_with(bed: &Bed, config: &str) {
    let pod = ObjectRef {
        kind: GroupKind::new("", "Pod"),
        version: "v1".into(),
        namespace: Some(bed.namespace.clone()),
        name: "db-0".into(),
    };
    let runs = async || {
        let Some(pod) = bed.get(&pod).await else { return false };
        pod.body()["status"]["phase"] == "Running"
            && pod.body()["spec"]["volumes"]
                .as_array()
                .unwrap()
                .iter()
                .any(|v| v["configMap"]["name"] == config)
    };
    tokio::time::timeout(Duration::from_mins(1), async {
        while !runs().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("the pod runs");
}

/// Waits until the pod runs with a ConfigMap and its revision is the only one, as a rollout does.
async fn has_revision(bed: &Bed, config: &str) {
    runs_with(bed, config).await;
    let live = database(bed, config, 0);
    tokio::time::timeout(Duration::from_mins(1), async {
        loop {
            let status = bed.get(live.reference()).await.unwrap().body()["status"].clone();
            if status["currentRevision"] == status["updateRevision"] {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("the old revision goes");
}

async fn deliver(bed: &Bed, next: &Rendering, rolled_out: impl Future) -> Pruned {
    let approved = approve(plan(bed, next).await);
    let applied = apply(&approved, next, &bed.context()).await.unwrap();
    rolled_out.await;
    prune_within(Duration::from_secs(20), &applied, &approved, next, &bed.context()).await.unwrap()
}

/// The pod below the partition keeps its revision; created anew, it would hang in `FailedMount`.
#[tokio::test]
async fn the_config_map_of_a_revision_that_still_runs_stays_until_no_pod_uses_it() {
    let bed = Bed::up().await;
    let (old, new) = (bed.map("conf-5h2ct8kd4m", "1"), bed.map("conf-hk7m2bdt9f", "2"));
    let name = |map: &Object| map.reference().name.clone();
    let first = rendering(&[("shop", &[old.clone(), database(&bed, &name(&old), 1)])]);
    deliver(&bed, &first, runs_with(&bed, &name(&old))).await;

    let held = rendering(&[("shop", &[new.clone(), database(&bed, &name(&new), 1)])]);
    let pruned = deliver(&bed, &held, runs_with(&bed, &name(&old))).await;
    assert!(pruned.deleted.is_empty(), "{pruned:?}");
    assert_eq!(pruned.kept[0].object, *old.reference());
    assert_eq!(pruned.kept[0].reason, "pod db-0 still uses it");
    assert!(bed.sink.text().contains("was not deleted: pod db-0 still uses it"));
    assert!(bed.get(old.reference()).await.is_some());
    assert!(bed.members("shop").await.unwrap().contains(&format!("ConfigMap./{}", name(&old))));

    let free = rendering(&[("shop", &[new.clone(), database(&bed, &name(&new), 0)])]);
    let pruned = deliver(&bed, &free, has_revision(&bed, &name(&new))).await;
    assert_eq!(pruned.deleted, [old.reference().clone()], "{pruned:?}");
    assert!(bed.get(old.reference()).await.is_none());
    bed.down().await;
}

/// Its pods are there a moment longer than the workload itself.
#[tokio::test]
async fn what_pods_of_a_deleted_workload_use_goes_with_it() {
    let bed = Bed::up().await;
    let (stays, config) = (bed.map("stays", "1"), bed.map("conf", "1"));
    let all = [stays.clone(), config.clone(), database(&bed, "conf", 0)];
    deliver(&bed, &rendering(&[("shop", &all)]), runs_with(&bed, "conf")).await;
    let pruned = deliver(&bed, &rendering(&[("shop", &[stays])]), async {}).await;
    assert_eq!(pruned.deleted, [all[2].reference().clone(), config.reference().clone()], "{pruned:?}");
    bed.down().await;
}

/// An evicted pod is no user at that moment; made anew from its revision, it hung in `FailedMount`.
#[tokio::test]
async fn the_config_map_of_a_revision_that_will_make_a_pod_again_stays_without_a_pod() {
    let bed = Bed::up().await;
    let (old, new) = (bed.map("conf-5h2ct8kd4m", "1"), bed.map("conf-hk7m2bdt9f", "2"));
    let name = |map: &Object| map.reference().name.clone();
    let first = rendering(&[("shop", &[old.clone(), database(&bed, &name(&old), 1)])]);
    deliver(&bed, &first, runs_with(&bed, &name(&old))).await;
    let quota = object(json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": bed.namespace}, "spec": {"hard": {"pods": "0"}}}));
    bed.cluster.create(&quota).await.unwrap();

    let held = rendering(&[("shop", &[new.clone(), database(&bed, &name(&new), 1)])]);
    let evicted = async {
        let pod = ObjectRef {
            kind: GroupKind::new("", "Pod"),
            version: "v1".into(),
            namespace: Some(bed.namespace.clone()),
            name: "db-0".into(),
        };
        let resource = bed.cluster.resource_of(&pod).await.unwrap();
        // The quota counts once its controller has seen it: until then the pod comes back.
        let gone = async {
            while let Some(live) = bed.get(&pod).await {
                if !live.is_terminating() {
                    drop(bed.cluster.delete(&resource, &live, Propagation::Background, false).await);
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), gone).await.expect("the pod stays away");
    };
    let pruned = deliver(&bed, &held, evicted).await;
    assert!(pruned.deleted.is_empty(), "{pruned:?}");
    assert!(pruned.kept[0].reason.starts_with("ControllerRevision db-"), "{pruned:?}");
    bed.down().await;
}
