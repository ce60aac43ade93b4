//! Objects that somebody else made.

use serde_json::{Value, json};

use crate::bed::Bed;

fn text(body: &Value) -> String {
    body.to_string()
}

#[tokio::test]
async fn server_side_applied_by_kubectl() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.kubectl(&["apply", "--server-side", "-f", "-"], &text(&body));
    let plan = bed.check(&[body], &[&["adopt ConfigMap/a Server"]]).await;
    assert!(plan.actions[0].delta.is_empty() && plan.actions[0].takes_over.is_empty(), "{plan:?}");
}

#[tokio::test]
async fn a_field_of_a_controller_is_a_conflict_and_one_of_a_person_is_taken_back() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    let other = bed.config("a", &json!({"a": "2"}));
    let foreign = ["apply", "--server-side", "--force-conflicts", "--field-manager=some-operator", "-f", "-"];
    bed.kubectl(&foreign, &text(&other));
    bed.check(
        std::slice::from_ref(&body),
        &[&["update ConfigMap/a", "problem field conflict: data.a is owned by some-operator"]],
    )
    .await;
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    bed.kubectl(&["-n", &bed.namespace, "patch", "configmap", "a", "-p", r#"{"data":{"a":"9"}}"#], "");
    bed.check(&[body], &[&["update ConfigMap/a", "Changed data.a", "takes data.a from kubectl-patch"]]).await;
}

#[tokio::test]
async fn a_kubectl_applyset_keeps_its_members() {
    let bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1"}));
    let namespace = bed.namespace.as_str();
    bed.kubectl(
        &["apply", "--server-side", "-n", namespace, "--prune", "--applyset=theirs", "-f", "-"],
        &text(&body),
    );
    let theirs = format!("Secret {namespace}/theirs");
    let ours = format!("windlass.{}.shop", bed.environment);
    bed.check(&[body], &[&["adopt ConfigMap/a"], &["refused two-owners", &theirs, &ours]]).await;
}

#[tokio::test]
async fn a_foreign_parent_at_our_place_is_refused() {
    let bed = Bed::new().await;
    let parent = format!("windlass.{}.shop", bed.environment);
    bed.kubectl(&["-n", &bed.namespace, "create", "configmap", &parent], "");
    let body = bed.config("a", &json!({"a": "1"}));
    bed.check(&[body], &[&["create ConfigMap/a"], &["refused foreign-set", &parent]]).await;
}

/// kubernetes issue 112701: the renamed container runs beside its old self, since another applier owns that.
#[tokio::test]
async fn a_renamed_container_that_another_applier_owns_stays_and_is_told() {
    let bed = Bed::new().await;
    let body = |container: &str| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": bed.namespace},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": container, "image": "registry.example/web:1"}]}}}})
    };
    bed.kubectl(&["apply", "--server-side", "-f", "-"], &text(&body("nginx")));
    bed.check(
        &[body("caddy")],
        &[&[
            "adopt Deployment.apps/web",
            "Added spec.template.spec.containers[name=caddy]",
            "warning spec.template.spec.containers[name=nginx] stays besides the declared items",
        ]],
    )
    .await;
}

/// kubernetes issue 131147: the server keeps the old port, and then finds two of one name.
#[tokio::test]
async fn a_changed_port_that_another_applier_owns_is_invalid_before_anything_is_applied() {
    let bed = Bed::new().await;
    let body = |port: u16| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": bed.namespace},
            "spec": {"ports": [{"name": "http", "port": port}]}})
    };
    bed.kubectl(&["apply", "--server-side", "-f", "-"], &text(&body(80)));
    bed.check(
        &[body(8080)],
        &[&[
            "adopt Service/web",
            "problem invalid: spec.ports[1].name",
            "Duplicate value",
            "].name (kubectl)",
            "it goes once that manager applies the object without it",
        ]],
    )
    .await;
}

/// kubernetes issue 25238: an autoscaler writes through `scale`; a person does so with kubectl.
#[tokio::test]
async fn replicas_that_a_person_scaled_are_taken_back() {
    let bed = Bed::new().await;
    let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": bed.namespace},
        "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "a", "image": "registry.example/db:1"}]}}}});
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    bed.kubectl(&["-n", &bed.namespace, "scale", "statefulset", "db", "--replicas=1"], "");
    bed.check(
        &[body],
        &[&[
            "update StatefulSet.apps/db",
            "Changed spec.replicas",
            "takes spec.replicas from kubectl",
            "db-0",
        ]],
    )
    .await;
}
