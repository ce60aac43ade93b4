//! Certificate bundles that are put in place by something else, such as the injector of cert-manager.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass_model::GroupKind;

/// Takes out every `caBundle` that only holds a place, and returns the paths of what was there.
///
/// Applied, it would conflict with the injector, whose bundle is the real one, at every delivery.
pub(crate) fn drop_placeholders(kind: &GroupKind, body: &mut Value) -> impl Iterator<Item = String> {
    let mut dropped = Vec::new();
    for (path, client) in clients(kind, body) {
        let is_placeholder = client.get("caBundle").and_then(Value::as_str).is_some_and(holds_nothing);
        if is_placeholder && client.as_object_mut().is_some_and(|client| client.remove("caBundle").is_some())
        {
            dropped.push(format!("{path}.caBundle"));
        }
    }
    dropped.into_iter()
}

/// Returns what says whom the API server calls, with its path.
fn clients<'a>(kind: &GroupKind, body: &'a mut Value) -> Vec<(String, &'a mut Value)> {
    let one = |path: &str, value: Option<&'a mut Value>| -> Vec<(String, &'a mut Value)> {
        value.map(|value| (path.to_owned(), value)).into_iter().collect()
    };
    match (kind.group.as_str(), kind.kind.as_str()) {
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => {
            let webhooks = body.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten();
            let client = |(index, webhook): (usize, &'a mut Value)| {
                Some((format!("webhooks[{index}].clientConfig"), webhook.get_mut("clientConfig")?))
            };
            webhooks.enumerate().filter_map(client).collect()
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => one(
            "spec.conversion.webhook.clientConfig",
            body.pointer_mut("/spec/conversion/webhook/clientConfig"),
        ),
        ("apiregistration.k8s.io", "APIService") => one("spec", body.get_mut("spec")),
        _ => Vec::new(),
    }
}

/// Says whether a bundle holds no certificate: it is empty, or white space in base64 such as `Cg==`.
fn holds_nothing(bundle: &str) -> bool {
    STANDARD.decode(bundle.trim()).is_ok_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, body: Value, want: &[&str], left: &Value) {
        let mut body = body;
        let dropped: Vec<String> = drop_placeholders(&GroupKind::from(kind.to_owned()), &mut body).collect();
        assert_eq!(dropped, want, "{kind}");
        assert_eq!(&body, left, "{kind}");
    }

    #[test]
    fn only_what_holds_no_certificate_is_left_out() {
        let webhook =
            |bundle: &str| json!({"webhooks": [{"clientConfig": {"url": "u", "caBundle": bundle}}]});
        let without = json!({"webhooks": [{"clientConfig": {"url": "u"}}]});
        let path = ["webhooks[0].clientConfig.caBundle"];
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            let kind = format!("{kind}.admissionregistration.k8s.io");
            for placeholder in ["", "Cg==", "IA==", " "] {
                check(&kind, webhook(placeholder), &path, &without);
            }
            check(&kind, webhook("LS0tLS1CRUdJTg=="), &[], &webhook("LS0tLS1CRUdJTg=="));
            check(&kind, webhook("no base64"), &[], &webhook("no base64"));
            check(&kind, without.clone(), &[], &without);
        }
        let conversion =
            |client: Value| json!({"spec": {"conversion": {"webhook": {"clientConfig": client}}}});
        check(
            "CustomResourceDefinition.apiextensions.k8s.io",
            conversion(json!({"caBundle": "Cg=="})),
            &["spec.conversion.webhook.clientConfig.caBundle"],
            &conversion(json!({})),
        );
        let service = "APIService.apiregistration.k8s.io";
        check(
            service,
            json!({"spec": {"group": "g", "caBundle": ""}}),
            &["spec.caBundle"],
            &json!({"spec": {"group": "g"}}),
        );
        check("Foo.example.com", json!({"spec": {"caBundle": ""}}), &[], &json!({"spec": {"caBundle": ""}}));
    }
}
