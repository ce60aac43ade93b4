//! Namespaces and kinds that come with the same commit.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::Bed;

/// kubernetes issue 114141: `kubectl diff` dies.
#[tokio::test]
async fn a_namespace_of_the_same_commit() {
    let mut bed = Bed::new().await;
    let name = format!("new-{}", bed.suffix);
    bed.leftovers.push(("namespace".into(), name.clone()));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let inside =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": name}});
    bed.check(
        &[inside.clone(), namespace.clone()],
        &[&["create Namespace/", "Server"], &["create ConfigMap/a Locally", "created by the same commit"]],
    )
    .await;
    let plan = bed.check(std::slice::from_ref(&inside), &[&["problem", "does not exist"]]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    bed.deliver(&[("shop", &[namespace.clone(), inside.clone()])]).await;
    bed.check(&[inside, namespace], &[&["no-op Namespace"], &["no-op ConfigMap"]]).await;
}

/// Its controller would make a pod again and again until the account is there; a bare pod is refused once.
#[tokio::test]
async fn a_service_account_of_the_same_commit() {
    let bed = Bed::new().await;
    let inside = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "runner", "namespace": bed.namespace}});
    let mut pod = inside("v1", "Pod");
    pod["spec"] = json!({"serviceAccountName": "runner", "containers": [{"name": "a", "image": "registry.example/a:1"}]});
    let account = inside("v1", "ServiceAccount");
    let told = "the ServiceAccount `runner` comes with the same commit";
    let both = [pod.clone(), account.clone()];
    let plan = bed.check(&both, &[&["create ServiceAccount"], &["create Pod/runner Locally", told]]).await;
    assert!(plan.is_executable(), "{plan:?}");
    let (first, second) = (std::slice::from_ref(&pod), std::slice::from_ref(&account));
    let late =
        "problem the ServiceAccount `runner` comes with the unit `accounts`, which is applied after `shop`";
    let want: [&[&str]; 2] = [&["create Pod", late], &["create ServiceAccount"]];
    let plan = bed.check_units(&[("shop", first), ("accounts", second)], &want).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    let plan =
        bed.check(&[pod], &[&["create Pod", "problem the ServiceAccount `runner` does not exist"]]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused), "it is no missing right");
}

fn definition(group: &str, fields: &Value) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}}}]}})
}

/// kubectl issues 1117 and 1179; then a field that only the new definition knows.
#[tokio::test]
async fn a_definition_of_the_same_commit() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    bed.leftovers.push(("customresourcedefinition".into(), format!("foos.{group}")));
    let old = definition(&group, &json!({"a": {"type": "string"}}));
    let new = definition(&group, &json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    let object = |spec: Value| {
        json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
            "metadata": {"name": "one", "namespace": bed.namespace}, "spec": spec})
    };
    let first = object(json!({"a": "1"}));
    bed.check(
        &[first.clone(), old.clone()],
        &[
            &["create CustomResourceDefinition", "Server"],
            &["create Foo", "Locally", "defined by the same commit"],
        ],
    )
    .await;
    let plan =
        bed.check(std::slice::from_ref(&first), &[&["problem invalid", "does not know the kind"]]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));

    bed.deliver(&[("shop", std::slice::from_ref(&old))]).await;
    bed.kubectl(&["wait", "--for=condition=Established", "crd", &format!("foos.{group}")], "");
    bed.cluster.forget_discovery().await;
    let second = object(json!({"a": "1", "b": "2"}));
    bed.check(
        &[second.clone(), new],
        &[
            &["update CustomResourceDefinition", "Server"],
            &["create Foo", "Locally", "changes in the same commit"],
        ],
    )
    .await;
    bed.check(
        &[second, old],
        &[&["no-op CustomResourceDefinition"], &["create Foo", "problem invalid: .spec.b"]],
    )
    .await;
}

/// A definition that is gone leaves nothing to delete, and does not brick the set.
#[tokio::test]
async fn a_definition_that_somebody_deleted() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.push(("customresourcedefinition".into(), name.clone()));
    let definition = definition(&group, &json!({"a": {"type": "string"}}));
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
        "metadata": {"name": "one", "namespace": bed.namespace}, "spec": {"a": "1"}});
    bed.kubectl(&["apply", "-f", "-"], &definition.to_string());
    bed.kubectl(&["wait", "--for=condition=Established", "crd", &name], "");
    bed.cluster.forget_discovery().await;
    let other = bed.config("a", &json!({}));
    until_served(&bed, &group, true).await;
    bed.deliver(&[("shop", &[object, other.clone()])]).await;
    bed.check(std::slice::from_ref(&other), &[&["no-op"], &["prune Foo"], &["refused protected-kind"]]).await;
    bed.kubectl(&["delete", "crd", &name], "");
    until_served(&bed, &group, false).await;
    bed.check(&[other], &[&["no-op ConfigMap/a"]]).await;
}

/// Waits until discovery knows a definition, or does not any more: it lags behind.
async fn until_served(bed: &Bed, group: &str, wanted: bool) {
    for _ in 0..200 {
        bed.cluster.forget_discovery().await;
        let kind = windlass_model::GroupKind::new(group, "Foo");
        if bed.cluster.resource(&kind, "v1").await.is_ok() == wanted {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the kind is served: {}", !wanted);
}

#[tokio::test]
async fn a_webhook_whose_service_nobody_delivers() {
    let bed = Bed::new().await;
    let service = json!({"namespace": bed.namespace, "name": "hook"});
    let webhook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": bed.namespace},
        "webhooks": [{"name": "plan.windlass.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": service}}],
    });
    let warnings = async || bed.plan(&[("shop", std::slice::from_ref(&webhook))]).await.warnings;
    let told = warnings().await;
    let want = format!("calls Service {}/hook, which does not exist", bed.namespace);
    assert!(told.len() == 1 && told[0].contains(&want), "{told:?}");
    bed.kubectl(&["-n", &bed.namespace, "create", "service", "clusterip", "hook", "--tcp=443"], "");
    assert_eq!(warnings().await, [""; 0]);
}
