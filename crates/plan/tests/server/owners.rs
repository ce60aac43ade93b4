//! Objects that another tool delivers too: by their marks, or only by its inventory.

use serde_json::{Value, json};
use windlass_settings::{DeliveryTool, TakeoverPermission};

use crate::bed::{Bed, served};

/// Creates an object as another tool would, with these labels and annotations.
fn create(bed: &Bed, name: &str, labels: &Value, annotations: &Value) -> Value {
    let mut live = bed.config(name, &json!({}));
    live["metadata"]["labels"] = labels.clone();
    live["metadata"]["annotations"] = annotations.clone();
    bed.kubectl(&["create", "-f", "-"], &live.to_string());
    bed.config(name, &json!({}))
}

#[tokio::test]
async fn marks_of_other_tools_are_read_from_live_objects() {
    let bed = Bed::new().await;
    let release = json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {"name": "sh.helm.release.v1.shop.v1", "namespace": bed.namespace,
            "labels": {"owner": "helm", "name": "shop", "status": "deployed", "version": "1"}},
        "stringData": {"release": "H4sIAAAAAAAA"}});
    bed.kubectl(&["create", "-f", "-"], &release.to_string());
    let helm = json!({"app.kubernetes.io/managed-by": "Helm"});
    let annotated =
        json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": bed.namespace});
    let flux = |kind: &str| json!({format!("{kind}.toolkit.fluxcd.io/name"): "apps", format!("{kind}.toolkit.fluxcd.io/namespace"): "flux-system"});
    let tracked = json!({"argocd.argoproj.io/tracking-id": format!("shop:/ConfigMap:{}/e", bed.namespace)});
    let none = json!({});
    let desired = [
        create(&bed, "a", &helm, &annotated),
        create(&bed, "b", &flux("kustomize"), &none),
        create(&bed, "c", &flux("helm"), &none),
        create(&bed, "d", &json!({"argocd.argoproj.io/instance": "shop"}), &none),
        create(&bed, "e", &none, &tracked),
        // What most charts render by themselves is no sign of Helm.
        create(&bed, "f", &helm, &none),
    ];
    let refused = ["ConfigMap", "the Helm release `shop`"];
    let refusal = |owner: &'static str| ["refused two-owners", owner];
    let owners = [
        refusal("the Flux Kustomization `apps`"),
        refusal("the Flux HelmRelease `apps`"),
        refusal("the Argo CD application `shop`"),
        refusal("the Argo CD application `shop`"),
    ];
    let adopt: &[&str] = &["adopt ConfigMap"];
    let mut want: Vec<&[&str]> = vec![adopt; desired.len()];
    want.push(&refused);
    want.extend(owners.iter().map(<[&str; 2]>::as_slice));
    bed.check(&desired, &want).await;
}

/// The definition of a kind, as far as this test needs it: any field, and no subresource.
fn definition(group: &str, kind: &str, plural: &str, version: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}

const HOLDERS: [(&str, &str, &str, &str); 4] = [
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "kustomizations", "v1"),
    ("helm.toolkit.fluxcd.io", "HelmRelease", "helmreleases", "v2"),
    ("fluxcd.controlplane.io", "ResourceSet", "resourcesets", "v1"),
    ("argoproj.io", "Application", "applications", "v1alpha1"),
];

/// Says in each tool's own way that it delivers one ConfigMap.
fn holder(bed: &Bed, (group, kind, _, version): (&str, &str, &str, &str), name: &str) -> Value {
    let status = if group == "argoproj.io" {
        json!({"resources": [{"version": "v1", "kind": "ConfigMap", "namespace": bed.namespace, "name": name}]})
    } else {
        json!({"inventory": {"entries": [{"id": format!("{}_{name}__ConfigMap", bed.namespace), "v": "v1"}]}})
    };
    json!({"apiVersion": format!("{group}/{version}"), "kind": kind,
        "metadata": {"name": "apps", "namespace": bed.namespace}, "spec": {}, "status": status})
}

/// An object that Argo CD tracks by annotation of another object, or that Flux took over a moment ago, carried no mark.
#[tokio::test]
async fn what_only_an_inventory_names_is_seen_as_owned() {
    let _kinds_come_that_not_everybody_may_list = crate::sets::LISTS.lock().await;
    let mut bed = Bed::new().await;
    let names = ["a", "b", "c", "d"];
    for (holds, name) in HOLDERS.into_iter().zip(names) {
        let (group, kind, plural, version) = holds;
        bed.leftovers.push(("customresourcedefinition".into(), format!("{plural}.{group}")));
        bed.kubectl(&["create", "-f", "-"], &definition(group, kind, plural, version).to_string());
        served(&bed, group, kind).await;
        bed.kubectl(&["create", "-f", "-"], &holder(&bed, holds, name).to_string());
    }
    let none = json!({});
    let desired = names.map(|name| create(&bed, name, &none, &none));
    let free = create(&bed, "free", &none, &none);
    let all: Vec<Value> = desired.iter().chain([&free]).cloned().collect();
    let adopt: &[&str] = &["adopt ConfigMap"];
    let refusals: [&[&str]; 4] = [
        &["refused two-owners", "ConfigMap", "/a belongs to the Flux Kustomization `apps`"],
        &["refused two-owners", "/b belongs to the Flux HelmRelease `apps`"],
        &["refused two-owners", "/c belongs to the Flux ResourceSet `apps`"],
        &["refused two-owners", "/d belongs to the Argo CD application `apps`"],
    ];
    let want: Vec<&[&str]> = [adopt; 5].into_iter().chain(refusals).collect();
    bed.check(&all, &want).await;

    for tool in [DeliveryTool::Flux, DeliveryTool::ArgoCd] {
        let permission = TakeoverPermission {
            tool,
            name: "apps".into(),
            until: "2026-06-30".into(),
            reason: "it moves".into(),
        };
        bed.guards.allow_takeovers.push(permission);
    }
    let taken: &[&str] = &["adopt ConfigMap", "taken over from"];
    bed.check(&all, &[taken, taken, taken, taken, adopt]).await;

    // Whatever is still in an inventory is not deleted under its owner.
    bed.deliver(&[("shop", &all)]).await;
    let keep: &[&str] = &["keep ConfigMap/d", "the Argo CD application `apps` delivers it too"];
    let same: &[&str] = &["no-op"];
    bed.check(&all[..3], &[same, same, same, keep, &["prune ConfigMap/free"]]).await;

    // Without its definition a kind has no objects: nothing is hidden, though the server named it a moment ago.
    bed.kubectl(&["delete", "customresourcedefinition", "applications.argoproj.io"], "");
    let plan = bed.plan(&[("shop", &all)]).await;
    assert!(!plan.warnings.iter().any(|text| text.contains("could not be listed")), "{:?}", plan.warnings);
    bed.kubectl(
        &["create", "-f", "-"],
        &definition("argoproj.io", "Application", "applications", "v1alpha1").to_string(),
    );
    served(&bed, "argoproj.io", "Application").await;

    let blind = bed.as_reader_of("configmaps,namespaces").await;
    let plan = blind.plan(&[("shop", &all)]).await;
    let untold: Vec<&str> = HOLDERS
        .iter()
        .map(|(_, kind, ..)| *kind)
        .filter(|kind| !plan.warnings.iter().any(|text| text.contains(&format!("`{kind}."))))
        .collect();
    assert_eq!(untold, [""; 0], "{:?}", plan.warnings);
}
