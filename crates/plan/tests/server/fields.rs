//! Fields that rules leave to others, take from them, or ignore.

use serde_json::{Value, json};
use windlass_model::Operation;
use windlass_plan::FieldRules;
use windlass_settings::{ConflictRule, IgnoreRule, Ownership, Winner};

use crate::bed::{Bed, is_quiet};

fn rule(field: &str, manager: &str, then: Winner) -> ConflictRule {
    ConflictRule { field: field.into(), manager: manager.into(), kinds: Vec::new(), names: Vec::new(), then }
}

fn rules(conflicts: Vec<ConflictRule>, ignore: &[IgnoreRule]) -> FieldRules {
    let now = "2026-06-15T12:00:00Z".parse().unwrap();
    FieldRules::new(&Ownership { conflicts, migrate: Vec::new() }, ignore, Some("prd"), now)
}

fn ignore(kind: &str, field: &str, manager: Option<&str>) -> IgnoreRule {
    IgnoreRule {
        kind: kind.into(),
        name: "*".into(),
        field: field.into(),
        manager: manager.map(str::to_owned),
        until: "2026-12-31".into(),
        reason: "known".into(),
        environments: Vec::new(),
    }
}

fn deployment(bed: &Bed, replicas: u32, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": format!("registry.example/web:{image}")}]}}}})
}

/// Lets an autoscaler scale, as the real one does: through the subresource.
fn scale(bed: &Bed, replicas: u32) {
    let patch = format!(r#"{{"spec":{{"replicas":{replicas}}}}}"#);
    let hpa = "--field-manager=kube-controller-manager";
    let arguments = [
        "-n",
        &bed.namespace,
        "patch",
        "deployment",
        "web",
        "--subresource=scale",
        hpa,
        "--type=merge",
        "-p",
        &patch,
    ];
    bed.kubectl(&arguments, "");
}

/// kubernetes issues 25238 and 94585: apply resets what the autoscaler has scaled, and both flap for ever.
#[tokio::test]
async fn replicas_that_an_autoscaler_owns_never_flap() {
    let mut bed = Bed::new().await;
    let web = |image: &str| deployment(&bed, 1, image);
    let (first, second) = (web("1"), web("2"));
    bed.deliver(&[("shop", std::slice::from_ref(&first))]).await;
    scale(&bed, 2);
    let told = "problem field conflict: spec.replicas is owned by kube-controller-manager (Update of scale), and when it last wrote is not recorded";
    bed.check(std::slice::from_ref(&first), &[&["update Deployment.apps/web", told]]).await;
    bed.fields = rules(vec![rule("spec.replicas", "kube-controller-manager", Winner::Leave)], &[]);
    for replicas in [3, 1, 0, 2] {
        // Also at the value that the manifest declares, where both could own the field, and at zero, which leaves no owner.
        scale(&bed, replicas);
        let plan = bed.plan(&[("shop", std::slice::from_ref(&first))]).await;
        assert!(is_quiet(&plan), "{plan:?}");
        assert_eq!(plan.actions[0].leaves[0].field, "spec.replicas");
    }
    let plan = bed
        .check(
            &[second],
            &[&["update Deployment.apps/web", "Changed spec.template", "left as it is: spec.replicas"]],
        )
        .await;
    let sent = plan.actions[0].sent.as_ref().unwrap();
    assert!(sent.body().pointer("/spec/replicas").is_none());
    assert!(plan.actions[0].delta.iter().all(|change| !change.path.starts_with(&["spec", "replicas"])));
}

#[tokio::test]
async fn one_field_that_must_not_be_taken_stops_the_whole_object() {
    let mut bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1", "b": "1", "c": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    let other = bed.config("a", &json!({"a": "2", "b": "2"}));
    let foreign = ["apply", "--server-side", "--force-conflicts", "--field-manager=some-operator", "-f", "-"];
    bed.kubectl(&foreign, &other.to_string());
    let all = std::slice::from_ref(&body);
    bed.fields = rules(vec![rule("data.a", "some-*", Winner::Take)], &[]);
    let want = [
        "takes data.a from some-operator",
        "problem field conflict: data.b is owned by some-operator (Apply)",
    ];
    bed.check(all, &[&want]).await;
    bed.fields = rules(vec![rule("data.a", "some-*", Winner::Take), rule("data.b", "*", Winner::Leave)], &[]);
    let plan =
        bed.check(all, &[&["update", "Changed data.a", "takes data.a", "left as it is: data.b"]]).await;
    assert!(plan.is_executable() && plan.actions[0].delta.len() == 1, "{plan:?}");
    bed.fields = rules(vec![rule("data", "some-operator", Winner::Take)], &[]);
    bed.check(all, &[&["Changed data.a", "Changed data.b", "takes data.a", "takes data.b"]]).await;
    // What people's tools wrote is taken by default, and can be refused.
    bed.kubectl(&["-n", &bed.namespace, "patch", "configmap", "a", "-p", r#"{"data":{"c":"9"}}"#], "");
    bed.fields = rules(
        vec![rule("data", "some-operator", Winner::Leave), rule("data.c", "kubectl-*", Winner::Fail)],
        &[],
    );
    bed.check(all, &[&["problem field conflict: data.c is owned by kubectl-patch (Update)"]]).await;
}

#[tokio::test]
async fn an_ignored_difference_is_counted_and_nothing_is_written() {
    let mut bed = Bed::new().await;
    let body = bed.config("a", &json!({"a": "1", "b": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&body))]).await;
    bed.kubectl(&["-n", &bed.namespace, "patch", "configmap", "a", "-p", r#"{"data":{"a":"9"}}"#], "");
    let all = std::slice::from_ref(&body);
    bed.fields =
        rules(Vec::new(), &[ignore("ConfigMap", "data.a", None), ignore("ConfigMap", "data.gone", None)]);
    let plan = bed.check(all, &[&["no-op ConfigMap/a"]]).await;
    assert_eq!((plan.counts().ignored, plan.actions[0].ignored[0].field.as_str()), (1, "data.a"));
    assert!(
        plan.warnings.iter().any(|warning| warning.contains("data.gone hides nothing")),
        "{:?}",
        plan.warnings
    );
    // Another change goes through, and the ignored field keeps its value.
    let next = bed.config("a", &json!({"a": "1", "b": "2"}));
    let plan = bed.plan(&[("shop", std::slice::from_ref(&next))]).await;
    let paths: Vec<String> = plan.actions[0].delta.iter().map(|change| change.path.to_string()).collect();
    assert_eq!((plan.actions[0].operation, paths), (Operation::Update, vec!["data.b".to_owned()]));
    assert!(plan.is_executable());
    // A rule for another manager's fields ignores nothing here.
    bed.fields = rules(Vec::new(), &[ignore("ConfigMap", "data.a", Some("some-operator"))]);
    bed.check(all, &[&["update ConfigMap/a", "Changed data.a", "takes data.a from kubectl-patch"]]).await;
}

/// kubernetes website issue 29739: what is not sent falls back to its default, if nobody else owns it.
#[tokio::test]
async fn an_ignored_field_that_only_we_own_keeps_its_value() {
    let mut bed = Bed::new().await;
    let (two, three) = (deployment(&bed, 2, "1"), deployment(&bed, 3, "1"));
    bed.deliver(&[("shop", std::slice::from_ref(&two))]).await;
    bed.fields = rules(Vec::new(), &[ignore("Deployment.apps", "spec.replicas", None)]);
    let plan = bed.check(&[three], &[&["no-op Deployment.apps/web"]]).await;
    assert_eq!(plan.counts().ignored, 1);
    let mut without = two;
    without["spec"].as_object_mut().unwrap().remove("replicas");
    bed.check(&[without], &[&["no-op Deployment.apps/web"]]).await;
}
