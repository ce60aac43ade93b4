//! Objects whose namespace comes with the same commit, tried out in another one.

use serde_json::{Value, json};
use windlass_model::{ExitCode, Plan};
use windlass_plan::exit_code;

use crate::bed::Bed;
use crate::policy::{Policy, in_namespace_of, until_refused};

/// What comes with a namespace that does not exist. The stand-in is the bed's own namespace.
struct New {
    bed: Bed,
    namespace: String,
}

impl New {
    async fn new() -> Self {
        let bed = Bed::new().await;
        Self { namespace: format!("new-{}", bed.suffix), bed }
    }

    fn object(&self, kind: &str, name: &str, fields: &Value) -> Value {
        let mut body = json!({"apiVersion": "v1", "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace}});
        for (key, value) in fields.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    }

    /// Plans one object with its namespace.
    async fn check(&self, object: &Value, want: &[&str]) -> Plan {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        self.bed.check(&[namespace, object.clone()], &[&["create Namespace/"], want]).await
    }
}

#[tokio::test]
async fn what_the_server_says_of_the_object_counts() {
    let new = New::new().await;
    let told = &format!("tried out in `{}`, whose labels and limits may differ", new.bed.namespace);
    let plan =
        new.check(&new.object("ConfigMap", "a", &json!({"data": {"k": "v"}})), &["Locally", told]).await;
    assert_eq!(exit_code(&plan), None);
    let after = plan.actions[1].bodies.after.as_ref().unwrap().body();
    assert_eq!(after["metadata"]["namespace"], new.namespace.as_str(), "{after}");

    let service = new.object("Service", "a", &json!({"spec": {"ports": [{"port": 70_000}]}}));
    let plan = new.check(&service, &["Locally", told, "problem invalid: spec.ports[0].port"]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));

    let unknown = new.object("ConfigMap", "a", &json!({"datum": {"k": "v"}}));
    new.check(&unknown, &["problem invalid: .datum: field not declared in schema"]).await;

    let secret = new.object("Secret", "a", &json!({"stringData": {"pin": 271_828}}));
    let plan = new.check(&secret, &["problem invalid: stringData.pin", "withheld"]).await;
    assert!(!format!("{plan:?} {}", plan.to_json()).contains("271828"), "{plan:?}");
}

#[tokio::test]
async fn what_the_server_says_of_the_stand_in_does_not_count() {
    let new = New::new().await;
    let stand_in = &new.bed.namespace;
    let config = new.object("ConfigMap", "a", &json!({}));
    new.bed.kubectl(&["-n", stand_in, "create", "configmap", "a"], "");
    let plan = new.check(&config, &["Locally", "not tried out", "holds an object of this name"]).await;
    assert_eq!(exit_code(&plan), None);
    new.bed.kubectl(&["-n", stand_in, "create", "quota", "none", "--hard=services=0"], "");
    new.bed.kubectl(&["-n", stand_in, "wait", "--for=jsonpath={.status.hard.services}=0", "quota/none"], "");
    let service = new.object("Service", "a", &json!({"spec": {"ports": [{"port": 80}]}}));
    let plan = new.check(&service, &["Locally", "not tried out: the quota of", "has no room"]).await;
    assert_eq!(exit_code(&plan), None);

    let reader = new.bed.as_identity("get,list", "namespaces,configmaps,secrets,services").await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new.namespace}});
    let want: &[&[&str]] =
        &[&["problem forbidden"], &["Locally", "not tried out: the identity may not create it"]];
    reader.check(&[namespace, service], want).await;
}

/// A policy counts where it makes no difference between namespaces.
#[tokio::test]
async fn a_policy_of_the_stand_in_is_only_told() {
    let mut new = New::new().await;
    let refused = format!("refused-{}", new.bed.suffix);
    let config = new.object("ConfigMap", &refused, &json!({}));
    refuse(&mut new.bed, "everywhere", config.clone(), json!({})).await;
    let plan = new.check(&config, &["Locally", "problem denied by policy", "everywhere"]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));

    let other = format!("selected-{}", new.bed.suffix);
    let config = new.object("ConfigMap", &other, &json!({}));
    let selector = in_namespace_of(&new.bed);
    refuse(&mut new.bed, "selected", config.clone(), selector).await;
    let plan = new
        .check(&config, &["Locally", "warning in `", "it would be refused, which may or may not hold"])
        .await;
    assert_eq!(exit_code(&plan), None);
}

/// The Deployment was accepted on a first delivery, and no pod of it ever started.
#[tokio::test]
async fn pods_of_a_new_namespace_are_tried_out_too() {
    let mut new = New::new().await;
    let workload = |name: &str| {
        let spec = json!({"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}}});
        let mut body = new.object("Deployment", name, &json!({"spec": spec}));
        body["apiVersion"] = "apps/v1".into();
        body
    };
    let (refused, other) = (format!("refused-{}", new.bed.suffix), format!("selected-{}", new.bed.suffix));
    let (denied, selected) = (workload(&refused), workload(&other));
    let pod = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}})
    };
    let plan = new.check(&denied, &["create Deployment", "Locally"]).await;
    assert!(exit_code(&plan).is_none() && !format!("{plan:?}").contains("not previewed"), "{plan:?}");

    refuse(&mut new.bed, "everywhere", pod(&refused), json!({})).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new.namespace}});
    let refusal: &[&str] = &["refused pod-policy", "no such name"];
    let plan = new
        .bed
        .check(
            &[namespace.clone(), denied.clone()],
            &[&["create Namespace/"], &["create Deployment", "Locally"], refusal],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));

    let selector = in_namespace_of(&new.bed);
    refuse(&mut new.bed, "selected", pod(&other), selector).await;
    let plan =
        new.check(&selected, &["warning in `", "its pods would be refused, which may or may not"]).await;
    assert_eq!(exit_code(&plan), None);

    // A LimitRange of the stand-in changes pods before a policy sees them.
    let limits = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a", "namespace": new.bed.namespace},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}});
    new.bed.kubectl(&["apply", "-f", "-"], &limits.to_string());
    let plan = new.check(&denied, &["warning in `", "its pods would be refused, which may or may not"]).await;
    assert_eq!(exit_code(&plan), None);

    // So does PodSecurity refuse by the labels of the stand-in, before any policy is asked.
    new.bed.kubectl(
        &["label", "namespace", &new.bed.namespace, "pod-security.kubernetes.io/enforce=restricted"],
        "",
    );
    let told = format!("warning in `{}`: would violate PodSecurity", new.bed.namespace);
    let plan = new.check(&denied, &["its pods were not previewed: the PodSecurity labels of", &told]).await;
    assert_eq!(exit_code(&plan), None);
}

/// Refuses objects of the probe's kind whose name begins as the probe's, and waits until that is so.
async fn refuse(bed: &mut Bed, word: &str, mut probe: Value, matching: Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let resource = format!("{}s", text(&probe["kind"]).to_lowercase());
    let refused = text(&probe["metadata"]["name"]);
    let expression = format!("!(has(object.metadata.name) && object.metadata.name.startsWith('{refused}'))");
    let validation = json!({"expression": expression, "message": "no such name"});
    Policy { word, resource: &resource, validation, condition: None, matching: Some(matching) }.enforce(bed);
    probe["metadata"]["namespace"] = bed.namespace.as_str().into();
    until_refused(bed, probe).await;
}
