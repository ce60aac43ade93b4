//! ValidatingAdmissionPolicies: what policy and binding say about themselves.

use windlass_model::Object;
use windlass_settings::AdmissionPolicy;

use crate::fields::{list, number, text};
use crate::{Class, Finding};

/// Returns the policy's name in findings and proofs.
pub(crate) fn title(rule: &AdmissionPolicy) -> String {
    format!("ValidatingAdmissionPolicy {}", rule.name)
}

/// Judges policy and binding as they were read. No finding does not mean that the policy is enforced.
pub(crate) fn judge(
    rule: &AdmissionPolicy,
    policy: Option<&Object>,
    binding: Option<&Object>,
) -> Vec<Finding> {
    let title = title(rule);
    let mut found = Vec::new();
    let mut find = |class, message: String| found.push(Finding::new(&title, class, message));
    match policy {
        None => find(Class::Missing, "the policy does not exist".to_owned()),
        Some(policy) => judge_policy(policy, &mut find),
    }
    match binding {
        None => find(Class::Missing, format!("the binding {} does not exist", rule.binding)),
        Some(binding) => judge_binding(rule, binding, &mut find),
    }
    found
}

fn judge_policy(policy: &Object, find: &mut impl FnMut(Class, String)) {
    let body = policy.body();
    if policy.is_terminating() {
        find(Class::Broken, "the policy is being deleted".to_owned());
    }
    if text(body, "/spec/failurePolicy") == "Ignore" {
        find(Class::Weaker, "the policy's failurePolicy is Ignore: an error lets objects pass".to_owned());
    }
    for warning in list(body, "/status/typeChecking/expressionWarnings") {
        let (field, warning) = (text(warning, "/fieldRef"), text(warning, "/warning"));
        find(Class::Broken, format!("the policy's expression does not fit its kinds: {field}: {warning}"));
    }
    let observed = number(body, "/status/observedGeneration");
    if observed.is_some() && observed != policy.generation() {
        find(Class::Pending, "the policy was changed a moment ago".to_owned());
    }
}

fn judge_binding(rule: &AdmissionPolicy, binding: &Object, find: &mut impl FnMut(Class, String)) {
    let body = binding.body();
    let name = &rule.binding;
    if binding.is_terminating() {
        find(Class::Broken, format!("the binding {name} is being deleted"));
    }
    let bound = text(body, "/spec/policyName");
    if bound != rule.name {
        find(Class::Broken, format!("the binding {name} binds another policy: {bound}"));
    }
    let actions: Vec<&str> =
        list(body, "/spec/validationActions").iter().filter_map(|action| action.as_str()).collect();
    if !actions.contains(&"Deny") {
        find(
            Class::Weaker,
            format!("the binding {name} does not deny: its actions are {}", actions.join(", ")),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const GROUP: &str = "admissionregistration.k8s.io/v1";

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn object(kind: &str, metadata: Value, spec: Value, status: Value) -> Object {
        let mut body =
            json!({"apiVersion": GROUP, "kind": kind, "metadata": metadata, "spec": spec, "status": status});
        body["metadata"]["name"] = json!("p");
        Object::new(body, None).unwrap()
    }

    fn check(policy: Option<&Object>, binding: Option<&Object>, want: &[(Class, &str)]) {
        let rule = AdmissionPolicy { name: "p".into(), binding: "b".into(), refuses: json!({}) };
        let got = judge(&rule, policy, binding);
        let got: Vec<(Class, &str)> = got.iter().map(|f| (f.class, f.message.as_str())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn what_policy_and_binding_say() {
        let policy = |metadata, spec, status| object("ValidatingAdmissionPolicy", metadata, spec, status);
        let binding = |spec| object("ValidatingAdmissionPolicyBinding", json!({}), spec, json!({}));
        let good = policy(
            json!({"generation": 2}),
            json!({"failurePolicy": "Fail"}),
            json!({"observedGeneration": 2, "typeChecking": {}}),
        );
        let deny = binding(json!({"policyName": "p", "validationActions": ["Deny", "Audit"]}));
        check(Some(&good), Some(&deny), &[]);
        check(
            None,
            None,
            &[
                (Class::Missing, "the policy does not exist"),
                (Class::Missing, "the binding b does not exist"),
            ],
        );
        let audit = binding(json!({"policyName": "p", "validationActions": ["Audit"]}));
        check(
            Some(&good),
            Some(&audit),
            &[(Class::Weaker, "the binding b does not deny: its actions are Audit")],
        );
        let other = binding(json!({"policyName": "q", "validationActions": ["Deny"]}));
        check(Some(&good), Some(&other), &[(Class::Broken, "the binding b binds another policy: q")]);
        let open = policy(json!({"generation": 1}), json!({"failurePolicy": "Ignore"}), json!({}));
        let ignore = "the policy's failurePolicy is Ignore: an error lets objects pass";
        check(Some(&open), Some(&deny), &[(Class::Weaker, ignore)]);
        let fresh = policy(json!({"generation": 2}), json!({}), json!({"observedGeneration": 1}));
        check(Some(&fresh), Some(&deny), &[(Class::Pending, "the policy was changed a moment ago")]);
        let warnings =
            json!({"expressionWarnings": [{"fieldRef": "spec.validations[0]", "warning": "no field x"}]});
        let wrong = policy(json!({}), json!({}), json!({"typeChecking": warnings}));
        let message = "the policy's expression does not fit its kinds: spec.validations[0]: no field x";
        check(Some(&wrong), Some(&deny), &[(Class::Broken, message)]);
        let going = policy(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}), json!({}), json!({}));
        check(Some(&going), Some(&deny), &[(Class::Broken, "the policy is being deleted")]);
    }
}
