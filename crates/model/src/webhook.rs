//! The Services that admission webhooks call.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{GroupKind, Object, ObjectRef};

/// Returns the Services that an object's admission webhooks call; none if it configures no webhooks, or only such as
/// name a URL.
pub fn webhook_backends(object: &Object) -> BTreeSet<ObjectRef> {
    let kind = &object.reference().kind;
    let configures = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]
        .iter()
        .any(|name| kind.is("admissionregistration.k8s.io", name));
    if !configures {
        return BTreeSet::new();
    }
    let webhooks = object.body().get("webhooks").and_then(Value::as_array);
    let called = |webhook: &Value| service(&webhook["clientConfig"]["service"]);
    webhooks.into_iter().flatten().filter_map(called).collect()
}

/// Returns the Services without which the API server cannot do what an object asks of it: those of admission webhooks
/// whose silence is a refusal, of the conversion of a CustomResourceDefinition, and of an APIService.
pub fn needed_services(object: &Object) -> BTreeSet<ObjectRef> {
    let (kind, body) = (&object.reference().kind, object.body());
    let webhooks = body.get("webhooks").and_then(Value::as_array).into_iter().flatten();
    let services: Vec<&Value> = if kind.group == "admissionregistration.k8s.io" {
        let strict = webhooks.filter(|webhook| webhook["failurePolicy"] != "Ignore");
        strict.map(|webhook| &webhook["clientConfig"]["service"]).collect()
    } else if kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        vec![&body["spec"]["conversion"]["webhook"]["clientConfig"]["service"]]
    } else if kind.is("apiregistration.k8s.io", "APIService") {
        vec![&body["spec"]["service"]]
    } else {
        Vec::new()
    };
    services.into_iter().filter_map(service).collect()
}

fn service(reference: &Value) -> Option<ObjectRef> {
    Some(ObjectRef {
        kind: GroupKind::new("", "Service"),
        version: "v1".to_owned(),
        namespace: Some(reference["namespace"].as_str()?.to_owned()),
        name: reference["name"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn services_are_read_from_webhook_configurations_only() {
        let check = |api_version: &str, kind: &str, want: &[&str]| {
            let body = json!({
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "w"},
                "webhooks": [
                    {"clientConfig": {"service": {"namespace": "a", "name": "s"}}},
                    {"clientConfig": {"service": {"namespace": "a", "name": "s", "path": "/other"}}},
                    {"clientConfig": {"url": "https://example.com"}},
                    {"clientConfig": {"service": {"namespace": "b", "name": "t"}}},
                ],
            });
            let object = Object::new(body, None).unwrap();
            let got: Vec<String> = webhook_backends(&object).iter().map(ToString::to_string).collect();
            assert_eq!(got, want, "{kind}");
        };
        let services = ["Service a/s", "Service b/t"];
        check("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", &services);
        check("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", &services);
        check("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", &[]);
        check("example.com/v1", "MutatingWebhookConfiguration", &[]);
    }

    #[test]
    fn services_that_the_server_cannot_do_without() {
        let check = |api_version: &str, kind: &str, content: Value, want: &[&str]| {
            let mut body = content;
            body["apiVersion"] = json!(api_version);
            body["kind"] = json!(kind);
            body["metadata"] = json!({"name": "w"});
            let got: Vec<String> =
                needed_services(&Object::new(body, None).unwrap()).iter().map(ToString::to_string).collect();
            assert_eq!(got, want, "{kind}");
        };
        let service = json!({"namespace": "a", "name": "s"});
        let webhooks = |policy: &str| json!({"webhooks": [{"failurePolicy": policy, "clientConfig": {"service": service}}]});
        let admission = "admissionregistration.k8s.io/v1";
        check(admission, "ValidatingWebhookConfiguration", webhooks("Fail"), &["Service a/s"]);
        check(admission, "MutatingWebhookConfiguration", webhooks("Ignore"), &[]);
        let conversion = json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}}}});
        check("apiextensions.k8s.io/v1", "CustomResourceDefinition", conversion, &["Service a/s"]);
        check(
            "apiregistration.k8s.io/v1",
            "APIService",
            json!({"spec": {"service": service}}),
            &["Service a/s"],
        );
        check("apiregistration.k8s.io/v1", "APIService", json!({"spec": {}}), &[]);
        check("v1", "ConfigMap", json!({"spec": {"service": service}}), &[]);
    }
}
