//! Which object a request meets: the one that was planned for, or none (measured rows of the facts on 1.36).

use std::collections::BTreeSet;

use serde_json::json;
use windlass_cluster::{ApplyRequest, Cluster, Deleted, Expect, Failure, FailureKind, Propagation};
use windlass_model::{ManagedEntry, Object};

use crate::bed::{apply, cluster, config_map, kind, object, own, remove, with};

/// Sends an object in all four ways, real or dry and with force or without: each must fail with this meaning.
async fn refused(cluster: &Cluster, object: &Object, expect: Expect<'_>, want: FailureKind) {
    for (force, dry_run) in [(false, true), (true, true), (false, false), (true, false)] {
        let answer = cluster.apply(ApplyRequest { object, expect, force, dry_run }).await;
        let got = kind(answer.map(|answer| answer.object));
        assert_eq!(got, Some(want.clone()), "{expect:?} force {force} dry {dry_run}");
    }
}

#[tokio::test]
async fn an_object_that_was_deleted_meanwhile_is_not_made_again() {
    let cluster = cluster().await;
    let first = config_map("gone", "a");
    let live = apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    remove(&cluster, &first).await;
    let (uid, version) = (live.uid().unwrap(), live.resource_version().unwrap());
    // A version alone would: the server ignores it on what is missing.
    for expect in [Expect::Uid(uid), Expect::Version(uid, version)] {
        refused(&cluster, &first, expect, FailureKind::Gone).await;
    }
    assert!(cluster.get(first.reference()).await.unwrap().is_none());
}

#[tokio::test]
async fn an_object_that_was_made_anew_is_another_one() {
    let cluster = cluster().await;
    let first = config_map("anew", "a");
    let old = apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    remove(&cluster, &first).await;
    apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    for body in [&first, &with(&first, "/data/k", json!("b"))] {
        refused(&cluster, body, Expect::Uid(old.uid().unwrap()), FailureKind::Recreated).await;
    }
    remove(&cluster, &first).await;
}

#[tokio::test]
async fn a_version_that_is_not_the_live_one_locks_even_an_equal_object() {
    let cluster = cluster().await;
    let first = config_map("version", "a");
    let old = apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    let (uid, version) = (old.uid().unwrap(), old.resource_version().unwrap());
    let second = with(&first, "/data/k", json!("b"));
    apply(&cluster, &second, Expect::Version(uid, version), false).await.unwrap();
    for body in [&first, &second] {
        refused(&cluster, body, Expect::Version(uid, version), FailureKind::Modified).await;
    }
    remove(&cluster, &first).await;
}

/// One kind of each sort: with and without a spec, of a group, cluster-scoped, a Lease with checks of its own.
fn kinds() -> Vec<Object> {
    let inside = || json!({"name": own("create"), "namespace": "default"});
    let template = json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}});
    [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": inside()}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": inside(), "spec": {"ports": [{"port": 80}]}}),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": inside(),
            "spec": {"serviceName": "a", "replicas": 0, "selector": {"matchLabels": {"app": "a"}}, "template": template}}),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": inside()}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": own("create")}}),
    ]
    .map(object)
    .into()
}

/// Creates an object, once. Returns by which operations it became ours: none, if it says nothing.
async fn created_once(cluster: &Cluster, object: &Object) -> Vec<String> {
    assert!(apply(cluster, object, Expect::Absent, true).await.is_ok(), "{}", object.reference());
    apply(cluster, object, Expect::Absent, false).await.unwrap();
    refused(cluster, object, Expect::Absent, FailureKind::Modified).await;
    let live = cluster.get(object.reference()).await.unwrap().unwrap();
    let ours = ManagedEntry::all(&live).filter(|entry| entry.manager() == "windlass");
    let operations: Vec<String> = ours.map(|entry| entry.operation().to_owned()).collect();
    remove(cluster, object).await;
    operations
}

#[tokio::test]
async fn a_creation_meets_nothing_or_fails_whatever_the_kind() {
    let cluster = cluster().await;
    let mut operations = Vec::new();
    for object in kinds() {
        operations.extend(created_once(&cluster, &object).await);
    }
    assert!(
        !operations.is_empty() && operations.iter().all(|operation| operation == "Apply"),
        "{operations:?}"
    );
}

/// Another part of the server stores them.
#[tokio::test]
async fn a_custom_resource_is_created_once_as_other_objects_are() {
    let cluster = cluster().await;
    let group = format!("{}.example.com", own("identity"));
    let definition = object(
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                "x-kubernetes-preserve-unknown-fields": true}}}]}}),
    );
    apply(&cluster, &definition, Expect::Absent, false).await.unwrap();
    let foo = object(json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
        "metadata": {"name": "a", "namespace": "default"}, "spec": {"k": "v"}}));
    for attempt in 0.. {
        cluster.forget_discovery().await;
        if apply(&cluster, &foo, Expect::Absent, true).await.is_ok() {
            break;
        }
        assert!(attempt < 100, "{group} is never served");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(created_once(&cluster, &foo).await, ["Apply"]);
    remove(&cluster, &definition).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_creations_at_once_one_succeeds() {
    let cluster = cluster().await;
    let name = config_map("race", "a");
    let tasks: Vec<_> = (0..16)
        .map(|number| {
            let (cluster, object) = (cluster.clone(), with(&name, "/data/k", json!(number.to_string())));
            tokio::spawn(async move { kind(apply(&cluster, &object, Expect::Absent, false).await) })
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_none()).count(), 1, "{outcomes:?}");
    let lost = |outcome: &Option<FailureKind>| matches!(outcome, None | Some(FailureKind::Modified));
    assert!(outcomes.iter().all(lost), "{outcomes:?}");
    remove(&cluster, &name).await;
}

/// The fields come first, whatever else is wrong; with force, what is there is still not to be created.
#[tokio::test]
async fn a_creation_where_somebody_elses_object_stands_names_their_fields() {
    let cluster = cluster().await;
    let theirs = config_map("theirs", "a");
    let request = ApplyRequest { object: &theirs, expect: Expect::Absent, force: false, dry_run: false };
    cluster.apply_parent(request).await.unwrap();
    let ours = with(&theirs, "/data/k", json!("b"));
    let Some(FailureKind::FieldConflict(fields)) = kind(apply(&cluster, &ours, Expect::Absent, false).await)
    else {
        panic!("no conflict");
    };
    assert_eq!((fields[0].field.as_str(), fields[0].manager.as_str()), ("data.k", "windlass-applyset"));
    assert_eq!(fields.len(), 1);
    let forced = ApplyRequest { object: &ours, expect: Expect::Absent, force: true, dry_run: false };
    let answer = cluster.apply(forced).await.map(|answer| answer.object);
    assert_eq!(kind(answer), Some(FailureKind::Modified));
    remove(&cluster, &theirs).await;
}

async fn free(cluster: &Cluster, object: &Object) {
    let live = cluster.get(object.reference()).await.unwrap().unwrap();
    cluster.patch(&live, &json!([{"op": "remove", "path": "/metadata/finalizers"}]), false).await.unwrap();
}

/// The server takes changes of what is going away with 200: whoever writes must look himself.
#[tokio::test]
async fn an_object_that_is_going_away_says_so_in_the_answer() {
    let cluster = cluster().await;
    let mut body = config_map("going", "a").into_body();
    body["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let held = object(body);
    let live = apply(&cluster, &held, Expect::Absent, false).await.unwrap();
    remove(&cluster, &held).await;
    let changed = with(&held, "/data/k", json!("b"));
    let answer = apply(&cluster, &changed, Expect::Uid(live.uid().unwrap()), false).await.unwrap();
    assert!(answer.is_terminating());
    let more = with(&held, "/metadata/finalizers", json!(["example.com/hold", "example.com/more"]));
    let refused = kind(apply(&cluster, &more, Expect::Uid(live.uid().unwrap()), false).await);
    assert_eq!(refused, Some(FailureKind::Invalid), "it is no immutable field");
    free(&cluster, &held).await;
    assert!(cluster.get(held.reference()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_previewed_deletion_has_the_same_preconditions_as_the_real_one() {
    let cluster = cluster().await;
    let first = config_map("preview", "a");
    let old = apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    let resource = cluster.resource_of(first.reference()).await.unwrap();
    let preview =
        async |object: &Object| cluster.delete(&resource, object, Propagation::Background, true).await;
    cluster.patch(&old, &json!([{"op": "replace", "path": "/data/k", "value": "b"}]), false).await.unwrap();
    let changed = preview(&old).await.unwrap_err();
    assert_eq!(changed.failure().map(Failure::kind), Some(FailureKind::Modified));
    remove(&cluster, &first).await;
    assert_eq!(preview(&old).await.unwrap(), Deleted::Absent);
    apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    assert_eq!(preview(&old).await.unwrap(), Deleted::Replaced);
    remove(&cluster, &first).await;
}

/// Some kinds answer with the object, others with a status; neither says whether it is gone.
#[tokio::test]
async fn a_deletion_is_accepted_whatever_it_is_answered_with() {
    let cluster = cluster().await;
    for object in kinds() {
        let live = apply(&cluster, &object, Expect::Absent, false).await.unwrap();
        let resource = cluster.resource_of(live.reference()).await.unwrap();
        let mut live = live;
        // Controllers write to what was just made.
        loop {
            match cluster.delete(&resource, &live, Propagation::Foreground, false).await {
                Ok(deleted) => {
                    assert_eq!(deleted, Deleted::Accepted, "{}", live.reference());
                    break;
                }
                Err(_) => live = cluster.get(object.reference()).await.unwrap().unwrap(),
            }
        }
    }
}

/// A failed write by JSON patch is told apart by the version inside it.
#[tokio::test]
async fn a_patch_of_an_older_version_is_a_changed_object() {
    let cluster = cluster().await;
    let first = config_map("patch", "a");
    let old = apply(&cluster, &first, Expect::Absent, false).await.unwrap();
    let patch = |value: &str| {
        json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": old.resource_version()},
            {"op": "replace", "path": "/data/k", "value": value},
        ])
    };
    cluster.patch(&old, &patch("b"), false).await.unwrap();
    for dry_run in [true, false] {
        let answer = cluster.patch(&old, &patch("c"), dry_run).await.map(|answer| answer.object);
        assert_eq!(kind(answer), Some(FailureKind::Modified));
    }
    remove(&cluster, &first).await;
}

/// What is created by POST is owned by `Update` as well, for ever: dropped fields stay.
#[tokio::test]
async fn what_an_apply_creates_it_can_also_drop() {
    let cluster = cluster().await;
    let keys = |object: &Object| -> BTreeSet<String> {
        object.body()["data"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let mut dropped = Vec::new();
    for by_post in [false, true] {
        let two = with(&config_map("drop", "a"), "/data", json!({"a": "1", "b": "2"}));
        let live = if by_post {
            cluster.create(&two).await.unwrap().object
        } else {
            apply(&cluster, &two, Expect::Absent, false).await.unwrap()
        };
        let one = with(&two, "/data", json!({"a": "1"}));
        let answer = apply(&cluster, &one, Expect::Uid(live.uid().unwrap()), false).await.unwrap();
        dropped.push(!keys(&answer).contains("b"));
        remove(&cluster, &two).await;
    }
    assert_eq!(dropped, [true, false]);
}
