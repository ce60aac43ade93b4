//! Requests against the real API server: what cannot be known without it.

use serde_json::json;
use windlass_cluster::{ClusterError, Deleted, Expect, FailureKind, Propagation, Selector};
use windlass_model::{GroupKind, Object};

use crate::bed::{apply, cluster, config_map, kind, remove};

/// The server ignores `?dryRun=All` when a DELETE has a body; the preview of a deletion really deleted.
#[tokio::test]
async fn a_deletion_that_is_previewed_is_not_carried_out() {
    let cluster = cluster().await;
    let live = apply(&cluster, &config_map("dry-delete", "a"), Expect::Absent, false).await.unwrap();
    let resource = cluster.resource_of(live.reference()).await.unwrap();
    let previewed = cluster.delete(&resource, &live, Propagation::Background, true).await.unwrap();
    assert_eq!(previewed, Deleted::Accepted);
    assert!(cluster.get(live.reference()).await.unwrap().is_some_and(|after| after.uid() == live.uid()));
    assert_eq!(
        cluster.delete(&resource, &live, Propagation::Background, false).await.unwrap(),
        Deleted::Accepted
    );
    assert!(cluster.get(live.reference()).await.unwrap().is_none());
    assert_eq!(
        cluster.delete(&resource, &live, Propagation::Background, false).await.unwrap(),
        Deleted::Absent
    );
}

/// Every form of dry-run leaves the object as it was.
#[tokio::test]
async fn no_dry_run_writes() {
    let cluster = cluster().await;
    let object = config_map("dry", "a");
    apply(&cluster, &object, Expect::Absent, true).await.unwrap();
    cluster.try_create(&object).await.unwrap();
    assert!(cluster.get(object.reference()).await.unwrap().is_none());
    let live = apply(&cluster, &object, Expect::Absent, false).await.unwrap();
    let uid = live.uid().unwrap();
    let mut changed = object.body().clone();
    changed["data"]["k"] = json!("b");
    apply(&cluster, &object.with_body(changed), Expect::Uid(uid), true).await.unwrap();
    let patch = json!([{"op": "replace", "path": "/data/k", "value": "c"}]);
    cluster.patch(&live, &patch, true).await.unwrap();
    let after = cluster.get(object.reference()).await.unwrap().unwrap();
    assert_eq!(
        (after.resource_version(), &after.body()["data"]["k"]),
        (live.resource_version(), &json!("a"))
    );
    remove(&cluster, &object).await;
}

#[tokio::test]
async fn create_means_create_and_update_means_this_object() {
    let cluster = cluster().await;
    let object = config_map("expect", "a");
    assert_eq!(kind(apply(&cluster, &object, Expect::Uid("0000"), false).await), Some(FailureKind::Gone));
    let live = apply(&cluster, &object, Expect::Absent, false).await.unwrap();
    assert_eq!(kind(apply(&cluster, &object, Expect::Absent, false).await), Some(FailureKind::Modified));
    assert_eq!(
        kind(apply(&cluster, &object, Expect::Uid("0000"), false).await),
        Some(FailureKind::Recreated)
    );
    let version = Expect::Version(live.uid().unwrap(), "2");
    assert_eq!(kind(apply(&cluster, &object, version, false).await), Some(FailureKind::Modified));
    apply(&cluster, &object, Expect::Uid(live.uid().unwrap()), false).await.unwrap();
    remove(&cluster, &object).await;
}

#[tokio::test]
async fn a_deletion_leaves_a_namesake_and_a_changed_object_alone() {
    let cluster = cluster().await;
    let object = config_map("delete", "a");
    let first = apply(&cluster, &object, Expect::Absent, false).await.unwrap();
    let resource = cluster.resource_of(first.reference()).await.unwrap();
    cluster.delete(&resource, &first, Propagation::Background, false).await.unwrap();
    let second = apply(&cluster, &object, Expect::Absent, false).await.unwrap();
    assert_eq!(
        cluster.delete(&resource, &first, Propagation::Background, false).await.unwrap(),
        Deleted::Replaced
    );
    let patch = json!([{"op": "replace", "path": "/data/k", "value": "c"}]);
    cluster.patch(&second, &patch, false).await.unwrap();
    let outdated = cluster.delete(&resource, &second, Propagation::Background, false).await.unwrap_err();
    assert_eq!(outdated.failure().map(windlass_cluster::Failure::kind), Some(FailureKind::Modified));
    remove(&cluster, &object).await;
}

#[tokio::test]
async fn a_replacement_is_compare_and_swap() {
    let cluster = cluster().await;
    let object = config_map("replace", "a");
    let live = cluster.create(&object).await.unwrap().object;
    let mut body = live.body().clone();
    body["data"]["k"] = json!("b");
    let newer = live.with_body(body);
    cluster.replace(&newer).await.unwrap();
    assert_eq!(kind(cluster.replace(&newer).await.map(|answer| answer.object)), Some(FailureKind::Modified));
    assert!(cluster.replace(&object).await.is_err(), "a body without uid must never be sent");
    remove(&cluster, &object).await;
    assert!(cluster.replace(&newer).await.is_err(), "a deleted object must not come back");
    assert!(cluster.get(object.reference()).await.unwrap().is_none());
}

#[tokio::test]
async fn lists_are_read_page_by_page_and_by_label() {
    let cluster = cluster().await;
    let resource = cluster.preferred(&GroupKind::new("", "ConfigMap")).await.unwrap();
    let mut object = config_map("list", "a");
    let label = object.reference().name.clone();
    object.set_label("windlass.dev/test", &label);
    apply(&cluster, &object, Expect::Absent, false).await.unwrap();
    let labels = format!("windlass.dev/test={label}");
    let selector = Selector { labels: Some(&labels), ..Selector::default() };
    let listing = cluster.list(&resource, selector).await.unwrap();
    assert_eq!(listing.objects.len(), 1);
    assert_eq!(listing.objects[0].reference(), object.reference());
    assert!(!listing.resource_version.is_empty());
    remove(&cluster, &object).await;
}

#[tokio::test]
async fn unknown_kinds_and_absent_objects_are_told_apart() {
    let cluster = cluster().await;
    let unknown = cluster.preferred(&GroupKind::new("no.example", "Thing")).await;
    assert!(matches!(unknown, Err(ClusterError::UnknownKind { stale: false, .. })), "{unknown:?}");
    assert!(cluster.get(config_map("absent", "a").reference()).await.unwrap().is_none());
    let identity = cluster.identity().await.unwrap();
    assert_eq!(identity.version, "v1.36.3");
    assert!(!identity.uid.is_empty());
}

#[tokio::test]
async fn warnings_of_the_server_arrive() {
    let cluster = cluster().await;
    let mut body = config_map("warn", "a").into_body();
    body["metadata"]["annotations"] = json!({"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"});
    body["kind"] = json!("Pod");
    body["spec"] = json!({"containers": [{"name": "a", "image": "a", "ports": [
        {"containerPort": 80, "name": "x"}, {"containerPort": 80, "name": "y"}]}]});
    body.as_object_mut().unwrap().remove("data");
    let answer = cluster.try_create(&Object::new(body, None).unwrap()).await.unwrap();
    assert!(!answer.warnings.is_empty());
}
