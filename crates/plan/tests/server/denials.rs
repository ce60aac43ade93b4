//! Objects that something in the cluster denies: told apart, named, and in nobody's way.

use serde_json::{Value, json};
use windlass_model::{ExitCode, ManagedEntry, Object};
use windlass_plan::exit_code;

use crate::bed::Bed;
use crate::policy::Policy;

/// Plans an object beside another one until the plan says this about it: admission learns of its own configuration a
/// moment later. The other one is planned all the same.
async fn told(bed: &Bed, object: &Value, want: &[&str], exit: ExitCode) {
    let other = bed.config("other", &json!({}));
    let all = [object.clone(), other];
    for attempt in 0.. {
        let plan = bed.plan(&[("shop", &all)]).await;
        let name = object["metadata"]["name"].as_str().unwrap();
        let action = plan.actions.iter().find(|action| action.object.name == name).unwrap();
        let problem = action.problem.as_ref().map(windlass_model::Problem::summary).unwrap_or_default();
        let got = format!("{:?} {problem}", action.preview);
        if want.iter().all(|want| got.contains(want)) {
            assert_eq!(exit_code(&plan), Some(exit), "{got}");
            let fine = plan.actions.iter().find(|action| action.object.name == "other").unwrap();
            assert!(fine.problem.is_none(), "{:?}", fine.problem);
            return;
        }
        assert!(attempt < 300, "{got} lacks some of {want:?}");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

/// A policy on objects of one kind in the test's namespace, with its binding.
fn enforce(bed: &mut Bed, resource: &str, reason: Option<&str>) -> String {
    let mut validation = json!({"expression": "object.metadata.name != 'bad'", "message": "bad is no name"});
    if let Some(reason) = reason {
        validation["reason"] = reason.into();
    }
    Policy { word: "denials", resource, validation, condition: None, matching: None }.enforce(bed)
}

fn secret(bed: &Bed, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": bed.namespace},
        "data": {"k": "aHVudGVyMg=="}})
}

/// A policy answers 422 unless its validation has another reason: it is no invalid object, no missing right, and not too
/// large.
#[tokio::test]
async fn a_policy_is_named_with_its_words() {
    for reason in [None, Some("Forbidden"), Some("RequestEntityTooLarge")] {
        let mut bed = Bed::new().await;
        let name = enforce(&mut bed, "configmaps", reason);
        let bad = bed.config("bad", &json!({}));
        told(&bed, &bad, &["Server", "denied by policy: ", &name, "bad is no name"], ExitCode::Refused).await;
    }
}

#[tokio::test]
async fn a_policy_that_denies_a_secret_is_named_without_its_words() {
    let mut bed = Bed::new().await;
    let name = enforce(&mut bed, "secrets", None);
    let bad = secret(&bed, "bad");
    told(&bed, &bad, &["denied by policy: ", &name, "withheld"], ExitCode::Refused).await;
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_is_named_with_its_address() {
    let mut bed = Bed::new().await;
    let name = format!("denials-{}", bed.suffix);
    let webhook = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{
            "name": "dead.windlass.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
            "clientConfig": {"url": "https://127.0.0.1:9/check"},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": bed.namespace}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}]}]});
    bed.leftovers.push(("validatingwebhookconfiguration".into(), name));
    bed.kubectl(&["apply", "-f", "-"], &webhook.to_string());
    let want = [
        "Not(",
        "`dead.windlass.dev` does not answer at https://127.0.0.1:9/check",
        "remove its configuration",
    ];
    told(&bed, &secret(&bed, "s"), &want, ExitCode::Refused).await;
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_told_with_what_it_allows() {
    let bed = Bed::new().await;
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": bed.namespace},
        "spec": {"hard": {"count/services": "0"}}});
    bed.kubectl(&["apply", "-f", "-"], &quota.to_string());
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": bed.namespace},
        "spec": {"ports": [{"port": 80}]}});
    let want = ["exceeded quota: few", "limited: count/services=0", "raise the namespace's quota"];
    told(&bed, &service, &want, ExitCode::Refused).await;
}

/// Who delivers rights must hold them: the server says so in a dry-run, too.
#[tokio::test]
async fn rights_that_the_identity_does_not_hold_are_named() {
    let bed = Bed::new().await;
    let limited = bed
        .as_identity("get,list,create,patch", "roles.rbac.authorization.k8s.io,configmaps,namespaces")
        .await;
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "r", "namespace": bed.namespace},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]});
    let want =
        ["Server", "forbidden: ", "attempting to grant RBAC permissions not currently held", "secrets"];
    told(&limited, &role, &want, ExitCode::Forbidden).await;
}

/// Facts 10.2: what a dry-run finds as the real request would.
#[tokio::test]
async fn addresses_and_ports_that_are_taken_or_out_of_range_are_found_by_the_preview() {
    let bed = Bed::new().await;
    let service = |name: &str, spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec});
    let first = service("first", json!({"type": "NodePort", "ports": [{"port": 80}]}));
    bed.deliver(&[("shop", std::slice::from_ref(&first))]).await;
    let path = "jsonpath={.spec.ports[0].nodePort}";
    let port = bed.kubectl(&["-n", &bed.namespace, "get", "service", "first", "-o", path], "");
    let port: u32 = port.parse().unwrap();
    for (spec, want) in [
        (
            json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}),
            "provided port is already allocated",
        ),
        (json!({"clusterIP": "192.0.2.1", "ports": [{"port": 80}]}), "spec.clusterIPs"),
    ] {
        bed.check(
            &[first.clone(), service("second", spec)],
            &[&["no-op Service/first"], &["create Service/second", "problem invalid: ", want]],
        )
        .await;
    }
}

/// A field that somebody wrote lately, and who: the one line that a person decides by.
#[tokio::test]
async fn a_conflict_names_field_manager_and_since_when() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    let other = bed.config("a", &json!({"a": "2"}));
    let foreign = ["apply", "--server-side", "--force-conflicts", "--field-manager=some-operator", "-f", "-"];
    bed.kubectl(&foreign, &other.to_string());
    let live = bed.cluster.get(Object::new(other, None).unwrap().reference()).await.unwrap().unwrap();
    let theirs = ManagedEntry::all(&live).find(|entry| entry.manager() == "some-operator").unwrap();
    let time = theirs.time().unwrap();
    let told = format!(
        "problem field conflict: data.a is owned by some-operator (Apply), which last wrote this object less than a minute ago ({time})"
    );
    let plan = bed.check(&[body], &[&["update ConfigMap/a", &told]]).await;
    let hint = plan.actions[0].problem.as_ref().unwrap().hint();
    assert!(hint.contains("ownership.conflicts"), "{hint}");
}
