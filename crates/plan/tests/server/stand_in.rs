//! Objects whose namespace comes with the same commit, tried out in another one.

use serde_json::{Value, json};
use windlass_model::{ExitCode, Object, Plan};
use windlass_plan::exit_code;

use crate::bed::Bed;

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
    enforce(&mut new.bed, "everywhere", &refused, &json!({})).await;
    let plan = new.check(&config, &["Locally", "problem denied by policy", "everywhere"]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));

    let other = format!("selected-{}", new.bed.suffix);
    let config = new.object("ConfigMap", &other, &json!({}));
    let selector =
        json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": new.bed.namespace}}});
    enforce(&mut new.bed, "selected", &other, &selector).await;
    let plan = new
        .check(&config, &["Locally", "warning in `", "it would be refused, which may or may not hold"])
        .await;
    assert_eq!(exit_code(&plan), None);
}

/// Refuses ConfigMaps of one name, and waits until that is so.
async fn enforce(bed: &mut Bed, word: &str, refused: &str, matching: &Value) {
    let name = format!("{word}-{}", bed.suffix);
    let group = "admissionregistration.k8s.io/v1";
    let policy = json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE"], "resources": ["configmaps"]}]},
            "validations": [{"expression": format!("object.metadata.name != '{refused}'"), "message": "no such name"}]}});
    let binding = json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": matching}});
    for body in [policy, binding] {
        bed.kubectl(&["apply", "-f", "-"], &body.to_string());
        bed.leftovers.push((body["kind"].as_str().unwrap().to_owned(), name.clone()));
    }
    let probe = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": refused, "namespace": bed.namespace}});
    let probe = Object::new(probe, None).unwrap();
    for attempt in 0.. {
        if bed.cluster.try_create(&probe).await.is_err() {
            break;
        }
        assert!(attempt < 100, "the policy is never enforced");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
