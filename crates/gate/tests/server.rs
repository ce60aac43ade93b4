//! The gate before real ValidatingAdmissionPolicies on a real API server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of a test may fail it")]

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use futures::FutureExt as _;
use serde_json::{Value, json};
use windlass_bed::kubeconfig;
use windlass_cluster::{ApplyRequest, Cluster, Expect, Propagation};
use windlass_gate::{Class, GateError, check};
use windlass_model::{Event, ExitCode, GatePassed, Object, ObjectRef, Sink};
use windlass_settings::{AdmissionPolicy, PolicyRules};

/// A policy that refuses ConfigMaps labelled with its own name, and a namespace to try it in.
struct Bed {
    cluster: Cluster,
    name: String,
    made: Mutex<Vec<ObjectRef>>,
}

const API: &str = "admissionregistration.k8s.io/v1";

async fn connect(kubeconfig: &Path) -> Cluster {
    windlass_bed::connect(kubeconfig, "windlass-gate-test", windlass_bed::SOON).await
}

async fn with_bed<F: Future<Output = ()>>(name: &str, test: impl FnOnce(Arc<Bed>) -> F) {
    let cluster = connect(&kubeconfig()).await;
    let name = format!("{name}-{:06}", RandomState::new().hash_one(name) % 1_000_000);
    let bed = Arc::new(Bed { cluster, name, made: Mutex::default() });
    bed.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bed.name}})).await;
    let result = AssertUnwindSafe(test(bed.clone())).catch_unwind().await;
    let made = std::mem::take(&mut *bed.made.lock().unwrap());
    for object in made.iter().rev() {
        let resource = bed.cluster.resource_of(object).await.unwrap();
        // Controllers write to what is to be deleted.
        for _ in 0..5 {
            let Some(live) = bed.cluster.get(object).await.unwrap() else { break };
            if bed.cluster.delete(&resource, &live, Propagation::Background, false).await.is_ok() {
                break;
            }
        }
    }
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

impl Bed {
    async fn apply(&self, body: Value) {
        let object = Object::new(body, None).unwrap();
        let request = ApplyRequest { object: &object, expect: Expect::Anything, force: true, dry_run: false };
        self.cluster.apply(request).await.unwrap();
        self.made.lock().unwrap().push(object.reference().clone());
    }

    /// Connects as a new service account without any right.
    async fn as_service_account(&self) -> Self {
        let metadata = json!({"name": "reader", "namespace": self.name});
        self.apply(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})).await;
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata,
            "type": "kubernetes.io/service-account-token"});
        secret["metadata"]["annotations"] = json!({"kubernetes.io/service-account.name": "reader"});
        self.apply(secret.clone()).await;
        let secret = Object::new(secret, None).unwrap();
        let token = async {
            loop {
                let live = self.cluster.get(secret.reference()).await.unwrap().unwrap();
                if let Some(token) = live.body()["data"]["token"].as_str() {
                    return base64::engine::general_purpose::STANDARD.decode(token).unwrap();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let token = tokio::time::timeout(Duration::from_secs(30), token).await.unwrap();
        let admin = std::fs::read_to_string(kubeconfig()).unwrap();
        let field = |name: &str| {
            admin.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap().trim().to_owned()
        };
        let cluster = json!({"server": field("server:"), "certificate-authority-data": field("certificate-authority-data:")});
        let content = json!({"apiVersion": "v1", "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": cluster}],
            "users": [{"name": "reader", "user": {"token": String::from_utf8(token).unwrap()}}],
            "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "reader"}}]});
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content.to_string()).unwrap();
        let cluster = connect(file.path()).await;
        Self { cluster, name: self.name.clone(), made: Mutex::default() }
    }

    async fn policy(&self, failure_policy: &str, expression: &str) {
        let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]});
        let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": self.name}});
        self.apply(
            json!({"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": self.name},
            "spec": {"failurePolicy": failure_policy,
                "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
                "validations": [{"expression": expression, "message": "not here"}]}}),
        )
        .await;
    }

    async fn binding(&self, policy: &str, actions: &[&str]) {
        self.apply(json!({"apiVersion": API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": self.name},
            "spec": {"policyName": policy, "validationActions": actions}}))
            .await;
    }

    fn probe(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": self.name}})
    }

    async fn check(&self, refuses: Value) -> Result<GatePassed, GateError> {
        let rule = AdmissionPolicy { name: self.name.clone(), binding: self.name.clone(), refuses };
        let rules = PolicyRules { validating_admission_policies: vec![rule], ..PolicyRules::default() };
        check(&self.cluster, &rules, &Kept::default()).await
    }

    async fn closed(&self, refuses: Value, want: &[Class], part: &str) {
        let error = self.check(refuses).await.unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Refused);
        let GateError::NotReady { findings } = error else { panic!("{error:?}") };
        let classes: Vec<Class> = findings.iter().map(|finding| finding.class).collect();
        assert_eq!(classes, want, "{findings:?}");
        assert!(findings[0].message.contains(part), "{:?} does not contain {part:?}", findings[0].message);
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<Event>>);

impl Sink for Kept {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_enforced_policy_opens_the_gate() {
    with_bed("open", async |bed| {
        bed.policy("Fail", "false").await;
        bed.binding(&bed.name, &["Deny"]).await;
        let passed = bed.check(bed.probe()).await.unwrap();
        assert_eq!(passed.names(), [format!("ValidatingAdmissionPolicy {}", bed.name)]);
        assert_eq!(bed.check(bed.probe()).await.unwrap().policies(), passed.policies());
        // A gate that looks right after a change waits until it has been taken up.
        bed.policy("Fail", "object.metadata.name == 'other'").await;
        let changed = bed.check(bed.probe()).await.unwrap();
        assert_ne!(changed.policies(), passed.policies(), "the digest follows the specification");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing() {
    with_bed("missing", async |bed| {
        bed.closed(bed.probe(), &[Class::Missing, Class::Missing], "the policy does not exist").await;
        bed.policy("Fail", "false").await;
        bed.closed(bed.probe(), &[Class::Missing], "the binding").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_weaker() {
    with_bed("weaker", async |bed| {
        bed.policy("Fail", "false").await;
        bed.binding(&bed.name, &["Audit"]).await;
        bed.closed(bed.probe(), &[Class::Weaker], "does not deny: its actions are Audit").await;
        bed.binding(&bed.name, &["Deny"]).await;
        bed.policy("Ignore", "false").await;
        bed.closed(bed.probe(), &[Class::Weaker], "failurePolicy is Ignore").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_of_another_policy() {
    with_bed("other", async |bed| {
        bed.policy("Fail", "false").await;
        bed.binding("another", &["Deny"]).await;
        bed.closed(bed.probe(), &[Class::Broken], "binds another policy: another").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expression_that_does_not_fit() {
    with_bed("types", async |bed| {
        bed.policy("Fail", "object.nonsense.field == 1").await;
        bed.binding(&bed.name, &["Deny"]).await;
        // The controller checks types a moment after the policy is stored.
        let warned = async {
            loop {
                if let Err(GateError::NotReady { findings }) = bed.check(bed.probe()).await
                    && findings.iter().any(|finding| finding.class == Class::Broken)
                {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), warned).await.unwrap();
        bed.closed(bed.probe(), &[Class::Broken], "does not fit its kinds").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admitted_object_closes_the_gate() {
    with_bed("admitted", async |bed| {
        bed.policy("Fail", "true").await;
        bed.binding(&bed.name, &["Deny"]).await;
        bed.closed(bed.probe(), &[Class::NotEnforced], "was admitted in a dry-run").await;
        let stored = Object::new(bed.probe(), None).unwrap();
        assert!(bed.cluster.get(stored.reference()).await.unwrap().is_none(), "the gate writes nothing");
    })
    .await;
}

/// Anything can refuse an object; only the policy itself proves that it does.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_something_else_proves_nothing() {
    with_bed("unknown", async |bed| {
        bed.policy("Fail", "false").await;
        bed.binding(&bed.name, &["Deny"]).await;
        bed.check(bed.probe()).await.unwrap();
        let unknown = &[Class::Unknown];
        let mut elsewhere = bed.probe();
        elsewhere["metadata"]["namespace"] = json!("no-such-namespace");
        bed.closed(elsewhere, unknown, "not found").await;
        let mut invalid = bed.probe();
        invalid["metadata"]["name"] = json!("Not_A_Name");
        bed.closed(invalid, unknown, "not by this policy").await;
        let kind = json!({"apiVersion": "example.com/v1", "kind": "Nonsense", "metadata": {"name": "x"}});
        bed.closed(kind, unknown, "does not know the kind").await;
        bed.closed(json!({"kind": "ConfigMap"}), unknown, "cannot be sent").await;
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": bed.name}, "spec": {"hard": {"count/secrets": "0"}}});
        bed.apply(quota).await;
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": bed.name},
            "stringData": {"password": "hunter2"}});
        bed.closed(secret, unknown, "HTTP 403").await;
    })
    .await;
}

/// What the own identity may not do proves nothing about policies either.
#[tokio::test(flavor = "multi_thread")]
async fn an_identity_without_rights_is_refused_by_no_policy() {
    with_bed("rights", async |bed| {
        bed.policy("Fail", "false").await;
        bed.binding(&bed.name, &["Deny"]).await;
        bed.check(bed.probe()).await.unwrap();
        let other = bed.as_service_account().await;
        let error = other.check(bed.probe()).await.unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Forbidden, "{error}");
        let rbac = "rbac.authorization.k8s.io";
        let resources = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"];
        bed.apply(json!({"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRole", "metadata": {"name": bed.name},
            "rules": [{"apiGroups": ["admissionregistration.k8s.io"], "resources": resources, "verbs": ["get"]}]}))
            .await;
        bed.apply(json!({"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": bed.name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": bed.name},
            "subjects": [{"kind": "ServiceAccount", "namespace": bed.name, "name": "reader"}]}))
            .await;
        // The authorizer takes up a binding a moment after it is stored.
        let taken_up = async {
            while matches!(other.check(bed.probe()).await, Err(GateError::Cluster(_))) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), taken_up).await.unwrap();
        other.closed(bed.probe(), &[Class::Unknown], "cannot create resource").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_policy_needs_a_reason() {
    with_bed("none", async |bed| {
        let sink = Kept::default();
        let mut rules = PolicyRules::default();
        let undecided = check(&bed.cluster, &rules, &sink).await.unwrap_err();
        assert!(matches!(undecided, GateError::Undecided));
        assert_eq!(undecided.exit_code(), ExitCode::Refused);
        rules.none = Some("a throw-away cluster".to_owned());
        let passed = check(&bed.cluster, &rules, &sink).await.unwrap();
        assert!(passed.names().is_empty());
        assert!(format!("{:?}", sink.0.lock().unwrap()).contains("a throw-away cluster"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_gatekeeper_its_constraints_are_missing() {
    with_bed("nogk", async |bed| {
        let rules: PolicyRules = serde_json::from_value(json!({"gatekeeper": {"constraints":
            [{"kind": "DenyNothing", "name": "nothing", "refuses": bed.probe()}]}}))
        .unwrap();
        let error = check(&bed.cluster, &rules, &Kept::default()).await.unwrap_err();
        let GateError::NotReady { findings } = error else { panic!("{error:?}") };
        assert_eq!(findings[0].class, Class::Missing);
        assert!(findings.iter().all(|finding| finding.policy == "DenyNothing nothing"));
    })
    .await;
}

/// The binary may run a stage on any of its threads.
#[test]
fn the_gate_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    fn check_send(cluster: &Cluster, rules: &PolicyRules, sink: &dyn Sink) {
        is_send(check(cluster, rules, sink));
    }
    let _: fn(&Cluster, &PolicyRules, &dyn Sink) = check_send;
}
