//! The dangerous cases of ApplySets: what pruning by label alone has really deleted.

use serde_json::{Value, json};
use windlass_model::{GroupKind, PART_OF};

use crate::bed::{Bed, served};

fn definition(group: &str, kind: &str, plural: &str, conversion: &Value) -> Value {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "conversion": conversion, "versions": [version("v1", true), version("v2", false)]}})
}

/// Makes a definition, and waits until its kind is served.
async fn define(bed: &mut Bed, definition: &Value) {
    let text = |pointer: &str| definition.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    bed.kubectl(&["apply", "-f", "-"], &definition.to_string());
    bed.leftovers.push(("customresourcedefinition".into(), text("/metadata/name")));
    bed.cluster.forget_discovery().await;
    served(bed, &text("/spec/group"), &text("/spec/names/kind")).await;
}

fn none() -> Value {
    json!({"strategy": "None"})
}

/// Gatekeeper gives the definition that it makes from a template the template's labels: a set that holds definitions
/// of its own would have deleted it, and with it every constraint.
#[tokio::test]
async fn a_label_that_a_controller_copied_to_a_definition_makes_no_member() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let ours = definition(&group, "Template", "templates", &none());
    define(&mut bed, &ours).await;
    let template = json!({"apiVersion": format!("{group}/v1"), "kind": "Template",
        "metadata": {"name": "required", "namespace": bed.namespace}});
    bed.deliver(&[("shop", &[ours.clone(), template.clone()])]).await;
    let mut made = definition(&group, "Required", "requireds", &none());
    made["metadata"]["labels"] = json!({PART_OF: bed.set("shop").id()});
    define(&mut bed, &made).await;
    let name = format!("requireds.{group}");
    bed.check(
        &[ours, template],
        &[
            &["update CustomResourceDefinition", "first moves to Windlass what kubectl-client-side-apply"],
            &["no-op Template"],
            &[&format!("keep CustomResourceDefinition.apiextensions.k8s.io/{name}"), "its label was copied"],
        ],
    )
    .await;
}

/// Who deletes a namespace must be able to list every kind in it: a kind that one test breaks is in another's way.
pub(crate) static LISTS: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// cli-utils issue 274: only `namespace.yaml` was removed, and everything in it was deleted.
#[tokio::test]
async fn a_dropped_namespace_file_does_not_take_its_objects_along() {
    let _all_kinds_can_be_listed = LISTS.lock().await;
    let mut bed = Bed::new().await;
    let name = format!("inner-{}", bed.suffix);
    bed.leftovers.push(("namespace".into(), name.clone()));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let inside =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": name}});
    bed.deliver(&[("shop", &[namespace, inside.clone()])]).await;
    bed.check(
        &[inside],
        &[
            &["no-op ConfigMap/a"],
            &["prune Namespace", "everything in the namespace"],
            &["refused protected-kind"],
            &["refused namespace-in-use", &format!("ConfigMap {name}/a")],
        ],
    )
    .await;
}

/// A set whose kind is gone was bricked; one whose kind cannot be listed must not look empty.
#[tokio::test]
async fn a_conversion_webhook_that_is_down_hides_no_member() {
    let _a_kind_cannot_be_listed = LISTS.lock().await;
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let plain = definition(&group, "Foo", "foos", &none());
    define(&mut bed, &plain).await;
    let foo = json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
        "metadata": {"name": "one", "namespace": bed.namespace}});
    let stays = bed.config("stays", &json!({}));
    bed.deliver(&[("shop", &[stays.clone(), foo])]).await;
    // The stored version changes, so that every read needs the webhook, which nothing serves.
    let webhook = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:9/convert"}}});
    let mut broken = definition(&group, "Foo", "foos", &webhook);
    broken["spec"]["versions"][0]["served"] = false.into();
    broken["spec"]["versions"][0]["storage"] = false.into();
    broken["spec"]["versions"][1]["storage"] = true.into();
    bed.kubectl(&["apply", "-f", "-"], &broken.to_string());
    let kind = GroupKind::new(&group, "Foo");
    for attempt in 0.. {
        bed.cluster.forget_discovery().await;
        let resource = bed.cluster.preferred(&kind).await;
        if let Ok(resource) = resource
            && resource.version == "v2"
            && bed.cluster.list(&resource, windlass_cluster::Selector::default()).await.is_err()
        {
            break;
        }
        assert!(attempt < 100, "the webhook is never asked");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    bed.check(&[stays], &[&["no-op"], &["refused incomplete-list", "one.", "conversion webhook"]]).await;
    bed.kubectl(&["apply", "-f", "-"], &plain.to_string());
}

/// Changes in a namespace that goes are accepted, and lost with it.
#[tokio::test]
async fn a_change_in_a_namespace_that_is_being_deleted_is_refused() {
    let mut bed = Bed::new().await;
    let name = format!("going-{}", bed.suffix);
    bed.leftovers.push(("namespace".into(), name.clone()));
    bed.kubectl(&["create", "namespace", &name], "");
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"},
        "metadata": {"name": "held", "namespace": name}});
    bed.deliver(&[("shop", std::slice::from_ref(&held))]).await;
    let finalizer = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    bed.kubectl(&["create", "configmap", "holder", "-n", &name], "");
    bed.kubectl(&["-n", &name, "patch", "configmap", "holder", "-p", finalizer], "");
    // The namespace's own finalizer is not taken off while something holds out in it; `held` itself may be there still.
    bed.kubectl(&["-n", &name, "patch", "configmap", "held", "-p", finalizer], "");
    bed.kubectl(&["delete", "namespace", &name, "--wait=false"], "");
    bed.check(&[held], &[&["ConfigMap/held", "problem", "is being deleted since"]]).await;
    for object in ["holder", "held"] {
        let free = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;
        bed.kubectl(&["-n", &name, "patch", "configmap", object, "--type=json", "-p", free], "");
    }
}
