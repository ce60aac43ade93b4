//! Admission policies that tests enforce.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_model::Object;

use crate::bed::Bed;

/// Denies objects of a kind of the core group.
pub(crate) struct Policy<'a> {
    /// What its name begins with.
    pub(crate) word: &'a str,
    /// The plural of the kind.
    pub(crate) resource: &'a str,
    /// What must be true, in CEL, with `message` or `reason` beside it.
    pub(crate) validation: Value,
    /// Which requests are judged, in CEL; nothing for all.
    pub(crate) condition: Option<&'a str>,
    /// `matchResources` of the binding; nothing for the test's namespace.
    pub(crate) matching: Option<Value>,
}

impl Policy<'_> {
    /// Applies the policy and its binding; returns the name of both.
    pub(crate) fn enforce(self, bed: &mut Bed) -> String {
        let group = "admissionregistration.k8s.io/v1";
        let name = format!("{}-{}", self.word, bed.suffix);
        let conditions: Vec<Value> = self
            .condition
            .iter()
            .map(|expression| json!({"name": "who", "expression": expression}))
            .collect();
        let policy = json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {"failurePolicy": "Fail", "matchConditions": conditions, "validations": [self.validation],
                "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"], "resources": [self.resource]}]}}});
        let matching = self.matching.unwrap_or_else(|| in_namespace_of(bed));
        let binding = json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": matching}});
        for body in [policy, binding] {
            bed.kubectl(&["apply", "-f", "-"], &body.to_string());
            bed.leftovers.push((body["kind"].as_str().unwrap().to_owned(), name.clone()));
        }
        name
    }
}

/// Returns what binds a policy to the test's namespace.
pub(crate) fn in_namespace_of(bed: &Bed) -> Value {
    json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": bed.namespace}}})
}

/// Waits until the server refuses to create an object.
pub(crate) async fn until_refused(bed: &Bed, probe: Value) {
    let probe = Object::new(probe, None).unwrap();
    for attempt in 0.. {
        if bed.cluster.try_create(&probe).await.is_err() {
            break;
        }
        assert!(attempt < 100, "the policy is never enforced");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
