//! What fails for one object, without hiding the others.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::Bed;

/// kubernetes issues 118325 and 122246: the whole diff died, and nobody learned which field it was.
#[tokio::test]
async fn immutable_fields_are_named_and_hide_nothing() {
    let bed = Bed::new().await;
    let meta = |name: &str| json!({"name": name, "namespace": bed.namespace});
    let set = |size: &str| {
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db"),
            "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
                "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": size}}}}]}})
    };
    let job = |command: &str| {
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("job"),
            "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "a", "image": "b", "command": [command]}]}}}})
    };
    let service = |spec: &Value| {
        let mut body = json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("svc"), "spec": spec});
        body["spec"]["ports"] = json!([{"port": 80}]);
        body
    };
    let claim = |class: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("claim"),
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
                "resources": {"requests": {"storage": "1Gi"}}}})
    };
    bed.deliver(&[("shop", &[set("1Gi"), job("a"), service(&json!({})), claim("absent-a")])]).await;
    let plan = bed
        .check(
            &[
                set("2Gi"),
                job("b"),
                service(&json!({"clusterIP": "None"})),
                claim("absent-b"),
                bed.config("a", &json!({})),
            ],
            &[
                &["create ConfigMap/a Server"],
                &["recreate PersistentVolumeClaim/claim Server", "problem immutable: spec.storageClassName"],
                &["recreate Service/svc", "problem immutable: spec.clusterIP"],
                &[
                    "recreate StatefulSet.apps/db Server",
                    "problem immutable: spec.volumeClaimTemplates[0].spec.resources.requests.storage",
                ],
                &[
                    "recreate Job.batch/job Server",
                    "problem immutable: spec.template.spec.containers[name=a].command[0]",
                ],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
}

/// The server repeats the value: `expected string, got &value.valueUnstructured{Value:48151623}`.
#[tokio::test]
async fn an_unquoted_number_in_a_secret_does_not_leak() {
    let bed = Bed::new().await;
    let secret = |field: &str| {
        json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "s", "namespace": bed.namespace}, field: {"pin": 48_151_623}})
    };
    for field in ["data", "stringData"] {
        let named = format!("problem invalid: {field}.pin");
        let plan = bed
            .check(
                &[secret(field), bed.config("a", &json!({}))],
                &[&["create Secret/s", &named], &["create ConfigMap/a"]],
            )
            .await;
        assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));
        assert!(!plan.to_json().to_string().contains("48151623"), "{:?}", plan.to_json());
    }
}

#[tokio::test]
async fn an_unknown_field_is_an_invalid_object() {
    let bed = Bed::new().await;
    let mut wrong = bed.config("a", &json!({}));
    wrong["dta"] = json!({});
    let other = bed.config("b", &json!({}));
    bed.check(
        &[wrong, other],
        &[
            &["create ConfigMap/a", "problem invalid: .dta: field not declared in schema"],
            &["create ConfigMap/b"],
        ],
    )
    .await;
}

/// A missing right is named for each object; it stops neither the plan nor the other objects.
#[tokio::test]
async fn a_missing_right_is_named() {
    let bed = Bed::new().await;
    let delivered = bed.config("a", &json!({}));
    bed.deliver(&[("shop", &[delivered.clone(), bed.config("gone", &json!({}))])]).await;
    let mut changed = delivered.clone();
    changed["data"] = json!({"k": "v"});
    let reader = bed.as_reader_of("configmaps").await;
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": bed.namespace}});
    let plan = reader
        .check(
            &[changed, secret],
            &[
                &["ConfigMap/a", "problem forbidden", "cannot patch resource \"configmaps\""],
                &["Secret/s", "problem forbidden"],
                &["prune ConfigMap/gone", "problem forbidden", "cannot delete resource \"configmaps\""],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Forbidden));
}

#[tokio::test]
async fn a_namespace_that_is_being_deleted_says_so() {
    let mut bed = Bed::new().await;
    let name = format!("going-{}", bed.suffix);
    bed.leftovers.push(("namespace".into(), name.clone()));
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": name, "finalizers": ["example.com/hold"]}});
    bed.kubectl(&["create", "namespace", &name], "");
    bed.kubectl(&["create", "-f", "-"], &held.to_string());
    bed.kubectl(&["delete", "namespace", &name, "--wait=false"], "");
    let new =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new", "namespace": name}});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    bed.check(
        &[namespace, new],
        &[
            &["Namespace/", "problem the live object is being deleted since"],
            &["create ConfigMap/new", "is being deleted since"],
        ],
    )
    .await;
    let free = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
    bed.kubectl(&["-n", &name, "patch", "configmap", "held", "--type=json", "-p", free], "");
}
