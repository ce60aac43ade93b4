//! Ownership that moves to Windlass before an object is applied.

use serde_json::{Value, json};
use windlass_cluster::{ApplyRequest, Expect, FIELD_MANAGER};
use windlass_model::{Action, FieldChange, Object, changes};
use windlass_plan::FieldRules;
use windlass_settings::Ownership;

use crate::bed::{Bed, is_quiet};

fn text(body: &Value) -> String {
    body.to_string()
}

fn deployment(bed: &Bed, spec: &Value, pod: &Value) -> Value {
    let mut spec = spec.clone();
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    spec["template"] = json!({"metadata": {"labels": {"app": "web"}}, "spec": pod});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": spec})
}

fn service(bed: &Bed, ports: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": {"ports": ports}})
}

fn named(mut body: Value, name: &str) -> Value {
    body["metadata"]["name"] = name.into();
    body
}

/// Waits for what the server needs a moment for.
async fn until(mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..100 {
        if done().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it did not happen");
}

impl Bed {
    /// Carries out the migration of an action as applying does.
    async fn migrate(&self, action: &Action) -> Object {
        let live = self.cluster.get(&action.object).await.unwrap().unwrap();
        let migrated = action.migration.as_ref().unwrap().of(&live, FIELD_MANAGER).unwrap();
        let answer = self.cluster.patch(&live, &migrated.patch(&live).into(), false).await.unwrap().object;
        assert!(migrated.is_in(&answer), "{}", answer.whole());
        let content = |object: &Object| {
            let mut body = object.body().clone();
            body["metadata"]["resourceVersion"] = Value::Null;
            body["status"] = Value::Null;
            body
        };
        assert_eq!(content(&live), content(&answer), "a migration changes nothing else");
        live
    }
}

/// What the plan foresees is what the server does once ownership has moved, and what kubectl's own migration ends with.
#[tokio::test]
async fn what_goes_after_a_migration_was_foreseen_and_is_what_kubectl_ends_with() {
    let bed = Bed::new().await;
    let web = |name: &str, more: &Value| {
        let mut container = json!({"name": name, "image": "registry.example/web:1"});
        for (key, value) in more.as_object().unwrap() {
            container[key] = value.clone();
        }
        json!([container])
    };
    let env = json!({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]});
    let fewer = json!({"env": [{"name": "B", "value": "2"}]});
    let mut labelled = bed.config("a", &json!({"a": "1"}));
    labelled["metadata"]["labels"] = json!({"x": "1"});
    labelled["metadata"]["annotations"] = json!({"y": "1"});
    for (old, new) in [
        (bed.config("a", &json!({"a": "1", "b": "2"})), bed.config("a", &json!({"a": "3"}))),
        (bed.config("a", &json!({"a": "1"})), named(bed.config("a", &Value::Null), "a")),
        (labelled, bed.config("a", &json!({"a": "1"}))),
        (
            deployment(
                &bed,
                &json!({"replicas": 0, "progressDeadlineSeconds": 300, "strategy": {"type": "Recreate"}}),
                &json!({"containers": web("web", &env), "securityContext": {"runAsUser": 1000}}),
            ),
            deployment(&bed, &json!({"replicas": 0}), &json!({"containers": web("web", &fewer)})),
        ),
        // kubernetes issue 112701: without a migration the renamed container runs beside its old self.
        (
            deployment(&bed, &json!({"replicas": 0}), &json!({"containers": web("nginx", &json!({}))})),
            deployment(&bed, &json!({"replicas": 0}), &json!({"containers": web("caddy", &json!({}))})),
        ),
        (
            service(&bed, &json!([{"name": "http", "port": 80}, {"name": "tls", "port": 443}])),
            service(&bed, &json!([{"name": "http", "port": 80}])),
        ),
        // kubernetes issue 131147: without a migration the server finds two ports of one name.
        (
            service(&bed, &json!([{"name": "http", "port": 80}])),
            service(&bed, &json!([{"name": "http", "port": 8080}])),
        ),
    ] {
        bed.kubectl(&["apply", "-f", "-"], &text(&named(old.clone(), "ours")));
        bed.kubectl(&["apply", "-f", "-"], &text(&named(old.clone(), "theirs")));
        let ours = named(new.clone(), "ours");
        let plan = bed.plan(&[("shop", std::slice::from_ref(&ours))]).await;
        let action = &plan.actions[0];
        assert!(action.problem.is_none(), "{:?}", action.problem);
        let live = bed.migrate(action).await;
        // Once ownership has moved, the server says it itself.
        let after = bed.plan(&[("shop", std::slice::from_ref(&ours))]).await;
        assert!(after.actions[0].migration.is_none());
        assert_eq!(after.actions[0].delta, action.delta, "{old}");
        let covered = after.effects().iter().all(|effect| plan.effects().contains(effect));
        assert!(covered, "what was approved before covers what is left: {old}");
        bed.deliver(&[("shop", std::slice::from_ref(&ours))]).await;
        let now = bed.cluster.get(&action.object).await.unwrap().unwrap();
        // The controller counts revisions meanwhile.
        let revision =
            |change: &FieldChange| change.path.to_string().contains("deployment.kubernetes.io/revision");
        let done: Vec<FieldChange> =
            changes(&live, &now).into_iter().filter(|change| !revision(change)).collect();
        assert_eq!(done, action.delta, "{old}");
        assert!(is_quiet(&bed.plan(&[("shop", std::slice::from_ref(&ours))]).await));
        let kind = now.reference().kind.kind.to_lowercase();
        // kubectl migrates only after an apply that succeeded: a changed port of the same name is none.
        if new.pointer("/spec/ports/0/port") != Some(&json!(8080)) {
            let apply =
                ["apply", "--server-side", "--force-conflicts", "--field-manager=windlass", "-f", "-"];
            bed.kubectl(&apply, &text(&named(new, "theirs")));
            let theirs = bed.kubectl(&["-n", &bed.namespace, "get", &kind, "theirs", "-o", "json"], "");
            let theirs = Object::new(serde_json::from_str(&theirs).unwrap(), None).unwrap();
            let other: Vec<String> =
                changes(&now, &theirs).iter().map(|change| change.path.to_string()).collect();
            let expected = ["metadata.name", "spec.clusterIP", "spec.clusterIPs[0]", "metadata.annotations"];
            let known = |path: &String| expected.iter().any(|own| path.starts_with(own));
            assert!(other.iter().all(known), "{other:?}: {old}");
        }
        for name in ["ours", "theirs"] {
            bed.kubectl(&["-n", &bed.namespace, "delete", &kind, name], "");
        }
    }
}

/// kubectl issue 1796, kubernetes issue 99003.
#[tokio::test]
async fn fields_of_client_side_apply_go_visibly() {
    let bed = Bed::new().await;
    bed.kubectl(&["apply", "-f", "-"], &text(&bed.config("a", &json!({"a": "1", "b": "2"}))));
    let plan = bed
        .check(
            &[bed.config("a", &json!({"a": "3"}))],
            &[&[
                "adopt ConfigMap/a Server",
                "Changed data.a",
                "Removed data.b",
                "takes data.a from kubectl-client-side-apply",
                "first moves to Windlass what kubectl-client-side-apply (which last wrote less than a minute ago, on 2",
            ]],
        )
        .await;
    assert!(plan.actions[0].warnings.is_empty(), "{:?}", plan.actions[0].warnings);
}

#[tokio::test]
async fn an_edit_by_hand_beside_our_fields_is_drift_that_is_undone() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    bed.kubectl(
        &["-n", &bed.namespace, "patch", "configmap", "a", "-p", r#"{"data":{"a":"9","b":"2"}}"#],
        "",
    );
    bed.check(
        &[body],
        &[&[
            "update ConfigMap/a Server",
            "Changed data.a",
            "Removed data.b",
            "takes data.a from kubectl-patch",
            "first moves to Windlass what kubectl-patch",
        ]],
    )
    .await;
}

#[tokio::test]
async fn fields_of_a_controller_are_never_moved() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.kubectl(&["apply", "-f", "-"], &text(&body));
    let patch = [
        "-n",
        &bed.namespace,
        "patch",
        "configmap",
        "a",
        "--field-manager=some-operator",
        "-p",
        r#"{"data":{"b":"2"}}"#,
    ];
    bed.kubectl(&patch, "");
    let plan = bed.check(std::slice::from_ref(&body), &[&["adopt ConfigMap/a Server", "first moves"]]).await;
    assert!(plan.actions[0].delta.is_empty(), "{plan:?}");
    bed.migrate(&plan.actions[0]).await;
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    let data = bed.kubectl(&["-n", &bed.namespace, "get", "configmap", "a", "-o", "jsonpath={.data}"], "");
    assert_eq!(data, r#"{"a":"1","b":"2"}"#);
}

/// kubernetes issue 89954: the server invents a manager that owns all there is, controllers' fields included.
#[tokio::test]
async fn of_an_object_without_managed_fields_only_what_kubectl_declared_goes() {
    let bed = Bed::new().await;
    for already_invented in [false, true] {
        bed.kubectl(&["apply", "-f", "-"], &text(&bed.config("a", &json!({"a": "1", "b": "2"}))));
        let more = r#"{"data":{"c":"3"}}"#;
        bed.kubectl(
            &["-n", &bed.namespace, "patch", "configmap", "a", "--field-manager=some-operator", "-p", more],
            "",
        );
        let reset = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
        bed.kubectl(&["-n", &bed.namespace, "patch", "configmap", "a", "--type=json", "-p", reset], "");
        if already_invented {
            // Not by kubectl, which would take all that the invented manager owns, and drop it.
            let label = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "namespace": bed.namespace, "labels": {"l": "1"}}});
            let label = Object::new(label, None).unwrap();
            let request =
                ApplyRequest { object: &label, expect: Expect::Anything, force: false, dry_run: false };
            bed.cluster.apply_parent(request).await.unwrap();
        }
        let body = bed.config("a", &json!({"a": "1"}));
        let plan = bed
            .check(
                std::slice::from_ref(&body),
                &[&[
                    "adopt ConfigMap/a Server",
                    "Removed data.b",
                    "first moves to Windlass what before-first-apply",
                ]],
            )
            .await;
        bed.migrate(&plan.actions[0]).await;
        bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
        let data =
            bed.kubectl(&["-n", &bed.namespace, "get", "configmap", "a", "-o", "jsonpath={.data}"], "");
        assert_eq!(data, r#"{"a":"1","c":"3"}"#);
        bed.kubectl(&["-n", &bed.namespace, "delete", "configmap", "a"], "");
    }
}

/// What others own stays after a migration too, and may be what the server refuses then. It was shown as removed, and the
/// refusal that was told was about the time before the migration.
#[tokio::test]
async fn what_follows_a_migration_that_the_server_asks_for_keeps_what_others_own() {
    let bed = Bed::new().await;
    bed.kubectl(&["apply", "-f", "-"], &text(&service(&bed, &json!([{"name": "http", "port": 80}]))));
    let theirs = service(&bed, &json!([{"name": "metrics", "port": 9090}]));
    bed.kubectl(&["apply", "--server-side", "--field-manager=some-operator", "-f", "-"], &text(&theirs));

    let renumbered = service(&bed, &json!([{"name": "http", "port": 8080}]));
    let plan = bed.plan(&[("shop", std::slice::from_ref(&renumbered))]).await;
    let paths: Vec<String> = plan.actions[0].delta.iter().map(|change| change.path.to_string()).collect();
    assert!(plan.actions[0].problem.is_none(), "{plan:?}");
    assert!(paths.iter().all(|path| path.starts_with("spec.ports[name=http]")), "{paths:?}");
    assert!(!paths.is_empty());

    let clash = service(&bed, &json!([{"name": "http", "port": 8080}, {"name": "metrics", "port": 9091}]));
    let plan = bed.plan(&[("shop", std::slice::from_ref(&clash))]).await;
    let problem = plan.actions[0].problem.as_ref().unwrap().summary();
    assert!(problem.contains("metrics") && !problem.contains("http"), "{problem}");
}

/// A list that is owned as a whole was foreseen with what was in it, as if the server had filled that in.
#[tokio::test]
async fn what_is_not_declared_any_more_is_missed_after_a_migration_too() {
    let mut bed = Bed::new().await;
    let role = |reads: &Value| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "reader", "namespace": bed.namespace}, "rules": [reads]})
    };
    let reads = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    bed.kubectl(&["apply", "-f", "-"], &text(&role(&reads)));
    let without = role(&json!({"apiGroups": [""], "resources": ["pods"]}));
    bed.check(&[without], &[&["adopt Role", "problem invalid: rules[0].verbs"]]).await;

    let class = format!("c{}", bed.suffix);
    bed.leftovers.push(("storageclass".into(), class.clone()));
    let body = |field: &str, value: &Value| {
        let mut body = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
            "provisioner": "example.com/none"});
        body[field] = value.clone();
        body
    };
    bed.kubectl(&["apply", "-f", "-"], &text(&body("parameters", &json!({"a": "1"}))));
    let both = "problem immutable: reclaimPolicy, parameters";
    bed.check(&[body("reclaimPolicy", &json!("Retain"))], &[&["recreate StorageClass", both]]).await;
}

/// kubernetes issue 99003: what an old client wrote by an update stayed for ever.
#[tokio::test]
async fn a_manager_that_the_environment_file_names_gives_up_what_it_wrote() {
    let mut bed = Bed::new().await;
    let old = bed.config("a", &json!({"a": "1", "b": "2"}));
    bed.kubectl(&["create", "--field-manager=old-deployer", "-f", "-"], &text(&old));
    let body = bed.config("a", &json!({"a": "1"}));
    let plan = bed.check(std::slice::from_ref(&body), &[&["adopt ConfigMap/a Server"]]).await;
    assert!(plan.actions[0].delta.is_empty() && plan.actions[0].migration.is_none(), "{plan:?}");
    let ownership = Ownership { conflicts: Vec::new(), migrate: vec!["old-deployer".to_owned()] };
    bed.fields = FieldRules::new(&ownership, &[], Some("prd"), "2026-06-15T12:00:00Z".parse().unwrap());
    let moves = "first moves to Windlass what old-deployer";
    let plan = bed
        .check(std::slice::from_ref(&body), &[&["adopt ConfigMap/a Server", "Removed data.b", moves]])
        .await;
    bed.migrate(&plan.actions[0]).await;
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    let data = bed.kubectl(&["-n", &bed.namespace, "get", "configmap", "a", "-o", "jsonpath={.data}"], "");
    assert_eq!(data, r#"{"a":"1"}"#);
    assert!(is_quiet(&bed.plan(&[("shop", std::slice::from_ref(&body))]).await));
}

/// A later client-side apply takes fields without any conflict; the next plan is the first to notice.
#[tokio::test]
async fn what_somebody_applies_on_the_clients_side_later_is_taken_back_visibly() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    bed.kubectl(&["apply", "-f", "-"], &text(&bed.config("a", &json!({"a": "2", "b": "3"}))));
    let want: &[&str] = &[
        "update ConfigMap/a Server",
        "Changed data.a",
        "Removed data.b",
        "takes data.a from kubectl-client-side-apply",
        "first moves to Windlass what kubectl-client-side-apply",
    ];
    let plan = bed.check(std::slice::from_ref(&body), &[want]).await;
    bed.migrate(&plan.actions[0]).await;
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    assert!(is_quiet(&bed.plan(&[("shop", std::slice::from_ref(&body))]).await));
}

/// kubernetes issue 111937: after a change of a CRD's versions an old entry, whoever wrote it, stops every apply.
#[tokio::test]
async fn entries_of_a_version_that_cannot_be_converted_are_rewritten() {
    let mut bed = Bed::new().await;
    let plural = format!("w{}s", bed.suffix);
    let group = format!("{}.windlass.dev", bed.suffix);
    let version = |name: &str, fields: &[&str], storage: bool| {
        let properties: serde_json::Map<String, Value> =
            fields.iter().map(|field| ((*field).to_owned(), json!({"type": "string"}))).collect();
        json!({"name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": properties},
                "status": {"type": "object", "properties": {"x": {"type": "string"}}}}}}})
    };
    let definition = |versions: &[Value]| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": "Widget"},
                "versions": versions}})
    };
    bed.leftovers.push(("crd".into(), format!("{plural}.{group}")));
    let widget = |version: &str, spec: &Value| {
        json!({"apiVersion": format!("{group}/{version}"), "kind": "Widget",
            "metadata": {"name": "a", "namespace": bed.namespace}, "spec": spec})
    };
    bed.kubectl(
        &["apply", "--server-side", "-f", "-"],
        &text(&definition(&[version("v1", &["a", "b"], true)])),
    );
    let crd = format!("crd/{plural}.{group}");
    bed.kubectl(&["wait", "--for=condition=Established", &crd], "");
    let old = widget("v1", &json!({"a": "1", "b": "2"}));
    until(async || bed.plan(&[("shop", std::slice::from_ref(&old))]).await.is_executable()).await;
    bed.deliver(&[("shop", std::slice::from_ref(&old))]).await;
    let versions = [version("v1", &["a", "b"], false), version("v2", &["a", "b", "new"], true)];
    bed.kubectl(&["apply", "--server-side", "-f", "-"], &text(&definition(&versions)));
    let new = widget("v2", &json!({"a": "1", "new": "3"}));
    // The server takes a moment to know the new version and its fields.
    until(async || bed.plan(&[("shop", std::slice::from_ref(&new))]).await.is_executable()).await;
    let plan = bed.plan(&[("shop", std::slice::from_ref(&new))]).await;
    let action = &plan.actions[0];
    let paths: Vec<String> = action.delta.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["spec.b", "spec.new"], "{action:?}");
    assert_eq!(
        action.migration.as_ref().and_then(|m| m.version.as_deref()),
        Some(format!("{group}/v2").as_str())
    );
    bed.migrate(action).await;
    let after = bed
        .check(std::slice::from_ref(&new), &[&["update", "Server", "Removed spec.b", "Added spec.new"]])
        .await;
    assert_eq!(after.actions[0].delta, action.delta);
    bed.deliver(&[("shop", std::slice::from_ref(&new))]).await;
    assert!(is_quiet(&bed.plan(&[("shop", std::slice::from_ref(&new))]).await));
}
