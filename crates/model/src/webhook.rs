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
    let service = |webhook: &Value| {
        let service = webhook.pointer("/clientConfig/service")?;
        Some(ObjectRef {
            kind: GroupKind::new("", "Service"),
            version: "v1".to_owned(),
            namespace: Some(service["namespace"].as_str()?.to_owned()),
            name: service["name"].as_str()?.to_owned(),
        })
    };
    webhooks.into_iter().flatten().filter_map(service).collect()
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
}
