//! Webhooks whose Service may not be able to answer.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_apply::{Applied, ApplyError, Context, apply};
use windlass_bed::{Says, Webhook};
use windlass_model::{ExitCode, Object};

use crate::bed::{Bed, kubeconfig, object};
use crate::plan::{approve, plan, rendering};

/// A configuration whose webhooks match nothing at all, so that it disturbs nobody.
fn webhook(bed: &Bed, client: &Value) -> Object {
    object(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": bed.namespace},
        "webhooks": [{
            "name": "apply.windlass.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
            "clientConfig": client,
            "namespaceSelector": {"matchLabels": {"no-namespace": "has-this"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        }],
    }))
}

fn by_service(bed: &Bed) -> Object {
    webhook(bed, &json!({"service": {"namespace": bed.namespace, "name": "hook"}}))
}

/// A Service without selector: its endpoints are what the test says they are.
fn service(bed: &Bed) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": bed.namespace},
        "spec": {"ports": [{"port": 443}]},
    }))
}

fn endpoints(bed: &Bed, ready: bool) -> Object {
    object(json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {
            "name": "hook-1", "namespace": bed.namespace, "labels": {"kubernetes.io/service-name": "hook"},
        },
        "endpoints": [{"addresses": ["10.244.9.9"], "conditions": {"ready": ready}}], "ports": [{"port": 443}],
    }))
}

async fn deliver(bed: &Bed, objects: &[Object], limit: Duration) -> Result<Applied, ApplyError> {
    let all = rendering(&[("shop", objects)]);
    let approved = approve(plan(bed, &all).await);
    apply(&approved, &all, &Context { backend_limit: limit, ..bed.context() }).await
}

const SOON: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_webhook_that_nobody_would_answer_is_not_written() {
    let bed = Bed::up().await;
    let check = async |objects: &[Object], want: &str| {
        let error = deliver(&bed, objects, SOON).await.unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
        assert!(error.hint().contains(&format!("-n {}", bed.namespace)), "{}", error.hint());
        assert!(bed.get(by_service(&bed).reference()).await.is_none());
    };
    check(&[by_service(&bed)], "hook, which it calls, does not exist").await;
    check(&[by_service(&bed), service(&bed)], "has no ready endpoint").await;
    bed.put(&endpoints(&bed, false)).await;
    check(&[by_service(&bed), service(&bed)], "has no ready endpoint").await;
    bed.down().await;
}

#[tokio::test]
async fn a_webhook_is_written_last_and_once_its_service_can_answer() {
    let bed = Bed::up().await;
    let backend = async {
        // The endpoints come while the webhook is waited with.
        while !bed.sink.text().contains("has no ready endpoint") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bed.put(&endpoints(&bed, true)).await;
    };
    let all = [by_service(&bed), service(&bed), bed.map("a", "1")];
    let (applied, ()) = tokio::join!(deliver(&bed, &all, LATE), backend);
    assert_eq!(applied.unwrap().changed(), 3);
    assert_eq!(bed.sink.writes().last(), Some(&format!("create {}", bed.namespace)));

    // An update of what is in force already makes the API server ask anew, too.
    bed.put(&endpoints(&bed, false)).await;
    let mut changed = by_service(&bed).into_body();
    changed["webhooks"][0]["timeoutSeconds"] = json!(5);
    let error = deliver(&bed, &[object(changed), service(&bed)], SOON).await.unwrap_err();
    assert!(error.to_string().contains("has no ready endpoint"), "{error}");
    bed.delete(by_service(&bed).reference()).await;
    bed.down().await;
}

/// The plan was fine, and then somebody says no: whoever denies chooses the code, and it is nobody else's change, no
/// absence, and nothing that is worth another try.
#[tokio::test]
async fn a_denial_while_applying_is_told_as_one_whatever_its_code() {
    let bed = Bed::up().await;
    let hook = Webhook::start(&kubeconfig(), |_| Says::no(403, "not yet told what to say"));
    let here = json!({"matchLabels": {"kubernetes.io/metadata.name": bed.namespace}});
    let configuration = object(hook.configuration("Validating", &bed.namespace, &["configmaps"], &here));
    let all = rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])]);
    let approved = approve(plan(&bed, &all).await);
    bed.put(&configuration).await;
    for attempt in 0.. {
        let denied = bed.cluster.try_create(&bed.map("probe", "")).await.err();
        if denied.is_some_and(|error| error.to_string().contains("not yet told")) {
            break;
        }
        assert!(attempt < 200, "the webhook is never asked");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for code in [401, 404, 409, 422, 429, 500, 503] {
        hook.answer_with(move |review| {
            let denied = review["request"]["name"] == "a";
            let details = json!({"retryAfterSeconds": 1, "kind": "namespaces"});
            let status = json!({"code": code, "message": "no room for a", "details": details});
            if denied { Says::Response(json!({"allowed": false, "status": status})) } else { Says::yes() }
        });
        hook.reviews();
        let error = apply(&approved, &all, &bed.context()).await.unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::ApplyFailed, "{code}: {error}");
        let [failure] = error.failures() else { panic!("{code}: {:?}", error.failures()) };
        assert_eq!(failure.object.name, "a");
        assert!(failure.message.contains("denied the request: no room for a"), "{code}: {}", failure.message);
        assert!(failure.hint.contains("policy accepts it"), "{code}: {}", failure.hint);
        let sent = hook.reviews().iter().filter(|review| review["request"]["name"] == "a").count();
        assert_eq!(sent, 1, "{code} is sent again");
        if let Some(b) = bed.get(bed.map("b", "1").reference()).await {
            bed.delete(b.reference()).await;
        }
    }
    bed.delete(configuration.reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn a_webhook_elsewhere_is_not_waited_for() {
    let bed = Bed::up().await;
    let elsewhere = webhook(&bed, &json!({"url": "https://example.com/hook"}));
    deliver(&bed, std::slice::from_ref(&elsewhere), SOON).await.unwrap();
    bed.delete(elsewhere.reference()).await;
    bed.down().await;
}
