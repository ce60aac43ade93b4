//! What can change between two plans.

use serde_json::{Value, json};

use crate::bed::{Bed, NAMESPACE, definition};

/// A change to the cluster or to the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Somebody edits a live object.
    EditLive,
    /// Somebody deletes a live object.
    DeleteLive,
    /// Somebody writes a Secret value by hand.
    EditSecret,
    /// The commit changes, or goes back to what it was.
    EditDesired,
    /// The commit is delivered.
    Deliver,
    /// The custom kind gets a default, or loses it, or loses a field.
    Schema,
    /// A policy of the server mutates updates, another way than before, or no more.
    MutatingPolicy,
    /// A policy of the server denies updates, or no more.
    ValidatingPolicy,
    /// What that policy takes as its parameter changes.
    Parameter,
    /// A webhook is asked about updates that nobody answers, or no more.
    Webhook,
    /// A webhook that may change updates is asked, which nobody answers, or no more.
    MutatingWebhook,
    /// The server gets another version, or goes back to the one before.
    ServerVersion,
    /// A label of the namespace, by which policies are bound.
    NamespaceLabel,
    /// Claims are limited, or no more.
    LimitRange,
}

pub(crate) const ALL: [Change; 14] = [
    Change::EditLive,
    Change::DeleteLive,
    Change::EditSecret,
    Change::EditDesired,
    Change::Deliver,
    Change::Schema,
    Change::MutatingPolicy,
    Change::ValidatingPolicy,
    Change::Parameter,
    Change::Webhook,
    Change::MutatingWebhook,
    Change::ServerVersion,
    Change::NamespaceLabel,
    Change::LimitRange,
];

impl Change {
    /// Makes the change; `choice` picks one of its forms.
    pub(crate) async fn make(self, bed: &mut Bed, desired: &mut [Value], choice: u32) {
        if self == Self::ServerVersion {
            bed.cluster_id.version = format!("v1.36.{}", choice % 3);
            return;
        }
        let bed = &*bed;
        let in_namespace =
            |arguments: &[&str]| drop(bed.kubectl(&[&["-n", NAMESPACE], arguments].concat(), ""));
        let switch = |on: bool, objects: &[Value]| {
            for object in objects {
                if on {
                    bed.configure(object);
                } else {
                    let kind = object["kind"].as_str().unwrap_or_default();
                    let name = object["metadata"]["name"].as_str().unwrap_or_default();
                    in_namespace(&["delete", kind, name, "--ignore-not-found"]);
                }
            }
        };
        let on = !choice.is_multiple_of(3);
        match self {
            Self::EditLive => {
                let value = format!("hand={choice}");
                in_namespace(&["annotate", "--overwrite", LIVE[index(choice)], &value]);
            }
            Self::DeleteLive => in_namespace(&["delete", LIVE[index(choice)], "--ignore-not-found"]),
            Self::EditSecret => {
                let patch = json!({"stringData": {"k": format!("hunter{}", choice % 2 + 2)}}).to_string();
                in_namespace(&["patch", "secret/s", "-p", &patch]);
            }
            Self::EditDesired => {
                desired[0]["data"]["k"] = (choice % 2).to_string().into();
                desired[2]["stringData"]["k"] = format!("hunter{}", choice % 2 + 2).into();
                desired[9]["spec"]["replicas"] = (choice % 2).into();
            }
            Self::Deliver => bed.deliver(desired).await,
            Self::Schema => bed.configure(&definition(on, (!choice.is_multiple_of(2)).then_some(choice))),
            Self::MutatingPolicy => switch(on, &mutating_policy(choice % 2)),
            Self::ValidatingPolicy => switch(on, &validating_policy()),
            Self::Parameter => switch(on, &[parameter(choice.is_multiple_of(2))]),
            Self::Webhook => switch(on && choice.is_multiple_of(2), &[webhook("Validating", "services")]),
            Self::MutatingWebhook => {
                switch(on && choice.is_multiple_of(2), &[webhook("Mutating", "networkpolicies")]);
            }
            Self::ServerVersion => {}
            Self::NamespaceLabel => {
                let label = if on { "judged=yes" } else { "judged-" };
                drop(bed.kubectl(&["label", "--overwrite", "namespace", NAMESPACE, label], ""));
            }
            Self::LimitRange => switch(on && choice.is_multiple_of(2), &[limit_range()]),
        }
    }
}

const LIVE: [&str; 5] =
    ["configmap/a", "configmap/b", "service/db", "deployment/web", "widgets.memory.example/w"];

fn index(choice: u32) -> usize {
    usize::try_from(choice).unwrap_or_default() % LIVE.len()
}

fn policy(kind: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["failurePolicy"] = "Fail".into();
    spec["matchConstraints"] = json!({"resourceRules": [{"apiGroups": ["", "apps"], "apiVersions": ["v1"],
        "operations": ["UPDATE"], "resources": ["configmaps", "deployments"]}]});
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "memory"}, "spec": spec})
}

fn binding(kind: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["policyName"] = "memory".into();
    spec["matchResources"] = json!({"namespaceSelector": {"matchLabels": {"judged": "yes"}}});
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "memory"}, "spec": spec})
}

fn mutating_policy(form: u32) -> Vec<Value> {
    let expression = format!("Object{{metadata: Object.metadata{{annotations: {{\"stamp\": \"{form}\"}}}}}}");
    vec![
        policy(
            "MutatingAdmissionPolicy",
            json!({"reinvocationPolicy": "Never", "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]}),
        ),
        binding("MutatingAdmissionPolicyBinding", json!({})),
    ]
}

fn validating_policy() -> Vec<Value> {
    vec![
        policy(
            "ValidatingAdmissionPolicy",
            json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "validations": [{"expression": "params.data.allow == 'yes'", "message": "not now"}]}),
        ),
        binding(
            "ValidatingAdmissionPolicyBinding",
            json!({"validationActions": ["Deny"],
                "paramRef": {"name": "parameter", "namespace": "default", "parameterNotFoundAction": "Allow"}}),
        ),
    ]
}

fn parameter(allow: bool) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "parameter", "namespace": "default"},
        "data": {"allow": if allow { "yes" } else { "no" }}})
}

fn webhook(kind: &str, resource: &str) -> Value {
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": "memory"}, "webhooks": [{"name": "memory.example.dev", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 1,
            "clientConfig": {"url": "https://127.0.0.1:9/"},
            "namespaceSelector": {"matchLabels": {"judged": "yes"}},
            "rules": [{"apiGroups": ["", "networking.k8s.io"], "apiVersions": ["v1"], "operations": ["UPDATE"],
                "resources": [resource]}]}]})
}

fn limit_range() -> Value {
    json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "memory", "namespace": NAMESPACE},
        "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Mi"}}]}})
}
