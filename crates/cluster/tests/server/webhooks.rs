//! What admission webhooks and conversion webhooks that answer can say, and what that means.

use serde_json::json;
use windlass_bed::{Says, Webhook, kubeconfig};
use windlass_cluster::{Denier, Expect, Failure, FailureKind, Selector};
use windlass_model::{ExitCode, GroupKind, Object};

use crate::bed::{apply, object, own, remove};
use crate::place::Place;

/// A webhook about the ConfigMaps of a namespace of its own.
struct Scene {
    place: Place,
    hook: Webhook,
    configuration: Object,
}

impl Scene {
    async fn new(name: &str, kind: &str) -> Self {
        let place = Place::new(name).await;
        let hook = Webhook::start(&kubeconfig(), |_| Says::no(403, "not yet told what to say"));
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": place.name()}});
        let configuration = object(hook.configuration(kind, &own(name), &["configmaps"], &here));
        apply(&place.cluster, &configuration, Expect::Absent, false).await.unwrap();
        let scene = Self { place, hook, configuration };
        scene.place.until_denied(&scene.map(), "not yet told").await;
        scene
    }

    fn map(&self) -> Object {
        self.place.inside("v1", "ConfigMap", json!({"data": {"k": "v"}}))
    }

    async fn down(self) {
        remove(&self.place.cluster, &self.configuration).await;
        self.place.down().await;
    }
}

/// It is no conflict, no absence, no overloaded server and no unknown identity, and asking again is no use.
#[tokio::test]
async fn whoever_denies_chooses_the_code() {
    let scene = Scene::new("codes", "Validating").await;
    let causes = json!([{"reason": "FieldManagerConflict", "field": ".data.k", "message": "conflict with \"hpa\""},
        {"reason": "NamespaceTerminating", "message": "x"},
        {"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "field is immutable"}]);
    let details = json!({"kind": "namespaces", "retryAfterSeconds": 1, "causes": causes});
    for code in [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 502, 503, 504] {
        for reason in ["", "Conflict", "NotFound", "Expired", "Timeout"] {
            let status = json!({"code": code, "reason": reason, "message": "no room", "details": details});
            let response = json!({"allowed": false, "status": status});
            scene.hook.answer_with(move |_| Says::Response(response.clone()));
            scene.hook.reviews();
            let error = apply(&scene.place.cluster, &scene.map(), Expect::Absent, false).await.unwrap_err();
            let failure = error.failure().unwrap();
            assert_eq!((failure.code, failure.kind()), (code, FailureKind::Denied), "{reason} {failure}");
            let Some(Denier::Webhook(name)) = failure.denier() else { panic!("{failure}") };
            assert!(name.ends_with(".windlass.dev"), "{name}");
            assert!(failure.message.ends_with("no room"), "{failure}");
            assert_eq!(error.exit_code(), ExitCode::Refused, "{failure}");
            // A controller makes a ConfigMap in every namespace, and tries again.
            let asked = scene.hook.reviews().iter().filter(|review| review["request"]["name"] == "a").count();
            assert_eq!(asked, 1, "{code} {reason} is asked again");
        }
    }
    scene.down().await;
}

/// What it says goes into reports and records.
#[tokio::test]
async fn a_denial_without_end_is_cut() {
    let scene = Scene::new("endless", "Validating").await;
    scene.hook.answer_with(|_| Says::no(403, &"x\u{1b}[31m\n::error::".repeat(100_000)));
    let error = apply(&scene.place.cluster, &scene.map(), Expect::Absent, true).await.unwrap_err();
    let failure = error.failure().unwrap();
    assert_eq!(failure.kind(), FailureKind::Denied);
    assert!(failure.message.len() < 10_000, "{} bytes", failure.message.len());
    scene.down().await;
}

/// The server cannot use any of these answers, and says so about the webhook, not about the object.
#[tokio::test]
async fn an_answer_that_is_none_is_the_webhooks_fault() {
    let scene = Scene::new("broken", "Mutating").await;
    let raw = |status, body: &str| Says::Raw { status, body: body.to_owned() };
    let broken = [
        raw(500, "boom"),
        raw(404, "404 page not found"),
        raw(429, "slow down"),
        raw(503, ""),
        raw(200, "<html>"),
        raw(200, "{}"),
        Says::Response(json!({"allowed": true, "patch": "bm90IGpzb24="})),
        Says::Nothing,
    ];
    for says in broken {
        let shown = format!("{says:?}");
        scene.hook.answer_with(move |_| says.clone());
        let error = apply(&scene.place.cluster, &scene.map(), Expect::Absent, true).await.unwrap_err();
        let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
        assert_eq!(failure.kind(), FailureKind::WebhookFailed, "{shown}: {failure} {failure:?}");
        assert!(failure.message.contains(".windlass.dev"), "{failure}");
    }
    // A patch that does not fit is reported without the name of who made it.
    scene.hook.answer_with(|_| Says::patched(&json!([{"op": "replace", "path": "/none/such", "value": 1}])));
    let error = apply(&scene.place.cluster, &scene.map(), Expect::Absent, true).await.unwrap_err();
    assert_eq!(error.failure().unwrap().kind(), FailureKind::Other, "{error}");
    scene.down().await;
}

/// A conversion that fails makes lists fail, so that nothing is taken for absent.
#[tokio::test]
async fn a_list_that_cannot_be_converted_is_no_empty_list() {
    let place = Place::new("convert").await;
    let cluster = &place.cluster;
    let hook = Webhook::start(&kubeconfig(), |review| Says::converted(review, |_| {}));
    let group = format!("{}.example.com", own("convert"));
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema":
            {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let definition =
        object(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {"strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": hook.client()}}}}));
    apply(cluster, &definition, Expect::Absent, false).await.unwrap();
    let foo = |version: &str| place.inside(&format!("{group}/{version}"), "Foo", json!({"spec": {"k": "v"}}));
    for attempt in 0.. {
        cluster.forget_discovery().await;
        match apply(cluster, &foo("v1"), Expect::Absent, false).await {
            Ok(_) => break,
            Err(error) => assert!(attempt < 100, "{error}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let kind = GroupKind::new(&group, "Foo");
    let resource = cluster.resource(&kind, "v2").await.unwrap();
    let listed = cluster.list(&resource, Selector::default()).await.unwrap().objects;
    assert_eq!(listed.iter().map(|object| object.reference().version.as_str()).collect::<Vec<_>>(), ["v2"]);
    let raw = |status| Says::Raw { status, body: "nothing here".to_owned() };
    let mut failures = Vec::new();
    let mut foo_again = foo("v1").into_body();
    for says in [Says::not_converted("cannot be: ::error::"), raw(404), raw(500), raw(410)] {
        hook.answer_with(move |_| says.clone());
        failures.push(cluster.get(foo("v2").reference()).await.unwrap_err());
        failures.push(apply(cluster, &foo("v2"), Expect::Anything, true).await.unwrap_err());
    }
    for error in failures {
        let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
        assert_eq!(failure.kind(), FailureKind::WebhookFailed, "{failure} {failure:?}");
    }
    // Lists are answered from what was converted before, until an object changes.
    hook.answer_with(|_| Says::not_converted("cannot be"));
    foo_again["spec"]["k"] = "other".into();
    apply(cluster, &object(foo_again), Expect::Anything, false).await.unwrap();
    for attempt in 0.. {
        match cluster.list(&resource, Selector::default()).await {
            Ok(listed) => assert_eq!(listed.objects.len(), 1, "an object is missing"),
            Err(error) => {
                assert!(error.failure().is_some_and(Failure::is_transient), "{error}");
                break;
            }
        }
        assert!(attempt < 100, "the list never fails");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    hook.answer_with(|review| Says::converted(review, |_| {}));
    remove(cluster, &definition).await;
    place.down().await;
}
