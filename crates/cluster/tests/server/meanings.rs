//! What a refusal means: user errors that arrive as 500, policies that answer 422, and other things that the code alone
//! does not tell.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_cluster::{ClusterError, Expect, FailureKind};

use crate::bed::{apply, cluster, config_map, kind, object, own, remove};
use crate::place::Place;

fn deployment(container: &Value) -> Value {
    json!({"spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}}})
}

/// Plain Go errors without a reason: sent again, they would fail again.
#[tokio::test]
async fn what_does_not_fit_the_schema_is_the_senders_fault() {
    let place = Place::new("schema").await;
    let ports = json!([{"containerPort": 93, "hostPort": 1}, {"containerPort": 93, "hostPort": 2}]);
    let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    for (kind, body, words) in [
        ("ConfigMap", json!({"dta": {}}), ".dta: field not declared in schema"),
        ("ConfigMap", json!({"data": {"k": 1}}), ".data.k: expected string"),
        (
            "Deployment",
            deployment(&json!({"name": "a", "image": "b", "ports": ports})),
            "duplicate entries for key",
        ),
        (
            "Deployment",
            deployment(&json!({"name": "a", "image": "b", "env": twice})),
            "duplicate entries for key",
        ),
        ("Deployment", deployment(&Value::Null), ""),
    ] {
        let version = if kind == "Deployment" { "apps/v1" } else { "v1" };
        place.refused(&place.inside(version, kind, body), &FailureKind::Schema, words).await;
    }
    place.down().await;
}

#[tokio::test]
async fn a_wrong_value_is_invalid_and_names_its_field() {
    let place = Place::new("invalid").await;
    let service = place.inside("v1", "Service", json!({"spec": {"ports": [{"port": 0}]}}));
    place.refused(&service, &FailureKind::Invalid, "spec.ports[0].port").await;
    let key = place.inside("v1", "ConfigMap", json!({"data": {"no key!": "v"}}));
    place.refused(&key, &FailureKind::Invalid, "data[no key!]").await;
    place.down().await;
}

/// Three limits with three answers; the last one is found by no dry-run.
#[tokio::test]
async fn an_object_can_be_too_large_in_three_ways() {
    let place = Place::new("large").await;
    let map = |bytes: usize| place.inside("v1", "ConfigMap", json!({"data": {"k": "x".repeat(bytes)}}));
    place.refused(&map(1_100_000), &FailureKind::Invalid, "Too long").await;
    place.refused(&map(3_200_000), &FailureKind::TooLarge, "").await;
    let env: Vec<Value> =
        (0..17).map(|number| json!({"name": format!("E{number}"), "value": "x".repeat(100_000)})).collect();
    let body = deployment(&json!({"name": "a", "image": "b", "env": env}));
    let deployment = place.inside("apps/v1", "Deployment", body);
    assert_eq!(kind(apply(&place.cluster, &deployment, Expect::Absent, true).await), None);
    let real = kind(apply(&place.cluster, &deployment, Expect::Absent, false).await);
    assert_eq!(real, Some(FailureKind::TooLarge));
    place.down().await;
}

#[tokio::test]
async fn a_namespace_can_be_missing_or_on_its_way_out() {
    let place = Place::new("going").await;
    let map = place.inside("v1", "ConfigMap", json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    let mut elsewhere = map.body().clone();
    elsewhere["metadata"]["namespace"] = "no-such-namespace".into();
    place.refused(&object(elsewhere), &FailureKind::NamespaceMissing, "no-such-namespace").await;
    let held = apply(&place.cluster, &map, Expect::Absent, false).await.unwrap();
    remove(&place.cluster, &place.namespace).await;
    let mut other = map.body().clone();
    other["metadata"] = json!({"name": "other", "namespace": place.name()});
    place.refused(&object(other), &FailureKind::NamespaceTerminating, "").await;
    // What is there can still be changed.
    assert!(apply(&place.cluster, &map, Expect::Uid(held.uid().unwrap()), false).await.is_ok());
    let live = place.cluster.get(map.reference()).await.unwrap().unwrap();
    let free = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
    place.cluster.patch(&live, &free, false).await.unwrap();
}

/// A policy answers 422, or 403 where its validation says so: neither is an invalid object, nor a missing right.
#[tokio::test]
async fn a_policy_is_named_whatever_it_answers_with() {
    let place = Place::new("policy").await;
    let admission = "admissionregistration.k8s.io/v1";
    for reason in [json!(null), json!("Forbidden")] {
        let name = own(if reason.is_null() { "plain" } else { "forbidden" });
        let mut validation = json!({"expression": "!has(object.data.bad)", "message": "no bad data"});
        if !reason.is_null() {
            validation["reason"] = reason;
        }
        let policy = object(
            json!({"apiVersion": admission, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {"failurePolicy": "Fail", "validations": [validation], "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}}}),
        );
        let binding = object(
            json!({"apiVersion": admission, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": place.name()}}}}}),
        );
        for part in [&policy, &binding] {
            apply(&place.cluster, part, Expect::Absent, false).await.unwrap();
        }
        let bad = place.inside("v1", "ConfigMap", json!({"data": {"bad": "1"}}));
        place.until_denied(&bad, &name).await;
        place.refused(&bad, &FailureKind::Denied, &name).await;
        place.refused(&bad, &FailureKind::Denied, "no bad data").await;
        for part in [&binding, &policy] {
            remove(&place.cluster, part).await;
        }
    }
    place.down().await;
}

#[tokio::test]
async fn pod_security_denies_as_a_policy_does() {
    let place = Place::new("podsec").await;
    let labels = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place.name(),
        "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    apply(&place.cluster, &object(labels), Expect::Anything, false).await.unwrap();
    let pod = place.inside(
        "v1",
        "Pod",
        json!({"spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}}),
    );
    place.until_denied(&pod, "restricted").await;
    place.refused(&pod, &FailureKind::Denied, "restricted").await;
    place.down().await;
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_no_missing_right() {
    let place = Place::new("quota").await;
    let mut quota =
        place.inside("v1", "ResourceQuota", json!({"spec": {"hard": {"count/secrets": "0"}}})).into_body();
    quota["metadata"]["name"] = "none".into();
    apply(&place.cluster, &object(quota), Expect::Absent, false).await.unwrap();
    let secret = place.inside("v1", "Secret", json!({}));
    // Until its controller has counted, the quota has no status, and everything is refused with other words.
    place.until_denied(&secret, "exceeded quota").await;
    place.refused(&secret, &FailureKind::Quota, "exceeded quota: none").await;
    place.down().await;
}

/// It would fail for every object, and again.
#[tokio::test]
async fn a_webhook_that_does_not_answer_is_told_by_its_name() {
    let place = Place::new("webhook").await;
    let name = own("dead");
    let webhook = object(
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{
            "name": "dead.windlass.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
            "clientConfig": {"url": "https://127.0.0.1:9/check"},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": place.name()}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]}]}),
    );
    apply(&place.cluster, &webhook, Expect::Absent, false).await.unwrap();
    let map = place.inside("v1", "ConfigMap", json!({}));
    place.until_denied(&map, "dead.windlass.dev").await;
    place.refused(&map, &FailureKind::WebhookFailed, "dead.windlass.dev").await;
    remove(&place.cluster, &webhook).await;
    place.down().await;
}

#[tokio::test]
async fn a_pod_whose_account_does_not_exist_is_refused_by_name() {
    let place = Place::new("account").await;
    let spec = json!({"serviceAccountName": "absent", "containers": [{"name": "a", "image": "registry.example/a:1"}]});
    let pod = place.inside("v1", "Pod", json!({"spec": spec}));
    place.refused(&pod, &FailureKind::Forbidden, "error looking up service account").await;
    place.down().await;
}

/// 409 has three meanings besides the fields of others; a POST has a fourth.
#[tokio::test]
async fn a_post_of_what_exists_is_a_changed_cluster() {
    let cluster = cluster().await;
    let map = config_map("post", "a");
    cluster.create(&map).await.unwrap();
    assert_eq!(kind(cluster.create(&map).await.map(|answer| answer.object)), Some(FailureKind::Modified));
    remove(&cluster, &map).await;
}

/// A kind is known for a moment longer than it is served: the answer is a plain text, no status.
#[tokio::test]
async fn a_kind_that_went_meanwhile_holds_no_objects() {
    let cluster = cluster().await;
    let group = format!("{}.example.com", own("gone"));
    let definition = object(
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Cluster", "names": {"kind": "Foo", "plural": "foos"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}),
    );
    apply(&cluster, &definition, Expect::Absent, false).await.unwrap();
    let foo = object(json!({"apiVersion": format!("{group}/v1"), "kind": "Foo", "metadata": {"name": "a"}}));
    let served = async || apply(&cluster, &foo, Expect::Absent, true).await;
    until(async || served().await.is_ok()).await;
    let resource = cluster.resource_of(foo.reference()).await.unwrap();
    remove(&cluster, &definition).await;
    until(async || matches!(kind(served().await), Some(FailureKind::KindNotServed))).await;
    assert!(cluster.get_as(&resource, None, "a").await.unwrap().is_none());
    cluster.forget_discovery().await;
    until(async || matches!(served().await, Err(ClusterError::UnknownKind { stale: false, .. }))).await;
}

async fn until(done: impl AsyncFn() -> bool) {
    for _ in 0..200 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not happen");
}
