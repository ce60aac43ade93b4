//! Fields that something else puts into what is delivered.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::{Bed, is_quiet};

fn inject(bed: &Bed, body: &Value) {
    let arguments = ["apply", "--server-side", "--force-conflicts", "--field-manager=cainjector", "-f", "-"];
    bed.kubectl(&arguments, &body.to_string());
}

/// chaos-mesh issue 4822: the injector fills in what the manifest leaves out, and that is no difference.
#[tokio::test]
async fn a_bundle_that_is_injected_beside_our_fields_is_no_change() {
    let mut bed = Bed::new().await;
    let name = format!("injected-{}", bed.suffix);
    bed.leftovers.push(("validatingwebhookconfiguration".into(), name.clone()));
    let authority = bed.kubectl(
        &["-n", "default", "get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data.ca\\.crt}"],
        "",
    );
    let bundle = base64(authority.as_bytes());
    let webhook = |bundle: Option<&str>| {
        let mut client = json!({"url": "https://example.com/check"});
        if let Some(bundle) = bundle {
            client["caBundle"] = bundle.into();
        }
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": [{
                "name": "v.windlass.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None", "clientConfig": client,
                "namespaceSelector": {"matchLabels": {"no-namespace": "has-this"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]})
    };
    let ours = webhook(None);
    bed.deliver(&[("shop", std::slice::from_ref(&ours))]).await;
    let theirs = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{"name": "v.windlass.dev", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "clientConfig": {"caBundle": bundle}}]});
    inject(&bed, &theirs);
    let plan = bed.plan(&[("shop", std::slice::from_ref(&ours))]).await;
    assert!(is_quiet(&plan), "{plan:?}");
    bed.deliver(&[("shop", std::slice::from_ref(&ours))]).await;
    let path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
    let live = bed.kubectl(&["get", "validatingwebhookconfiguration", &name, "-o", path], "");
    assert_eq!(live, bundle, "delivering again takes the bundle away");
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// kubernetes issue 108081: what the injector owns stays when the manifest drops the rest, and the whole is invalid.
#[tokio::test]
async fn a_field_of_another_manager_that_makes_the_whole_invalid_is_named_with_its_owner() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.push(("customresourcedefinition".into(), name.clone()));
    let definition = |conversion: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                "conversion": conversion, "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
    };
    let service = json!({"namespace": bed.namespace, "name": "convert"});
    let webhook = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": service}}});
    bed.deliver(&[("shop", &[definition(webhook)])]).await;
    let authority = bed.kubectl(
        &["-n", "default", "get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data.ca\\.crt}"],
        "",
    );
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": base64(authority.as_bytes())}}}}});
    let arguments =
        ["patch", "crd", &name, "--type=merge", "--field-manager=cainjector", "-p", &patch.to_string()];
    bed.kubectl(&arguments, "");
    let plan = bed
        .check(
            &[definition(json!({"strategy": "None"}))],
            &[&[
                "update CustomResourceDefinition",
                "problem invalid: spec.conversion",
                "spec.conversion.webhook.clientConfig.caBundle",
                "cainjector",
            ]],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));
}
