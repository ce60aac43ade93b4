//! What other delivery tools record of what they deliver: an object can be theirs without carrying a mark.

use serde_json::Value;

use crate::{GroupKind, Object, Owner, Tool};

/// How a tool records what it delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `status.inventory.entries`, each with an id of cli-utils: `NAMESPACE_NAME_GROUP_KIND`.
    Ids,
    /// `status.resources`, each with group, kind, namespace and name.
    Resources,
}

/// Group and kind of the objects that hold inventories, the tool, its word for one delivery, and the form.
const HOLDERS: [(&str, &str, Tool, &str, Form); 4] = [
    ("kustomize.toolkit.fluxcd.io", "Kustomization", Tool::Flux, "Flux Kustomization", Form::Ids),
    ("helm.toolkit.fluxcd.io", "HelmRelease", Tool::Flux, "Flux HelmRelease", Form::Ids),
    ("fluxcd.controlplane.io", "ResourceSet", Tool::Flux, "Flux ResourceSet", Form::Ids),
    ("argoproj.io", "Application", Tool::ArgoCd, "Argo CD application", Form::Resources),
];

/// An object in an inventory: its kind, its namespace if it has one, and its name.
pub type Delivered = (GroupKind, Option<String>, String);

/// Returns the kinds whose objects hold inventories.
pub fn inventory_kinds() -> impl Iterator<Item = GroupKind> {
    HOLDERS.iter().map(|(group, kind, ..)| GroupKind::new(group, kind))
}

/// Reads which objects of this cluster a holder of an inventory delivers. `None` if it holds none, or delivers to another
/// cluster (`spec.kubeConfig` of Flux, `spec.destination` of Argo CD).
pub fn inventory_of(holder: &Object) -> Option<(Owner, Vec<Delivered>)> {
    let reference = holder.reference();
    let is_its = |(group, kind, ..): &&(&str, &str, Tool, &str, Form)| reference.kind.is(group, kind);
    let (_, _, tool, unit, form) = HOLDERS.iter().find(is_its)?;
    let owner = Owner::new(*tool, unit, &reference.name);
    let list = |pointer: &str| holder.body().pointer(pointer).and_then(Value::as_array);
    let delivered = match form {
        _ if goes_elsewhere(holder) => return None,
        Form::Ids => list("/status/inventory/entries")?.iter().filter_map(of_id).collect(),
        Form::Resources => list("/status/resources")?.iter().filter_map(of_resource).collect(),
    };
    Some((owner, delivered))
}

fn goes_elsewhere(holder: &Object) -> bool {
    let text = |pointer: &str| holder.body().pointer(pointer).and_then(Value::as_str);
    let here = "https://kubernetes.default.svc";
    holder.body().pointer("/spec/kubeConfig").is_some_and(|config| !config.is_null())
        || text("/spec/destination/server").is_some_and(|server| !server.is_empty() && server != here)
        || text("/spec/destination/name").is_some_and(|name| !name.is_empty() && name != "in-cluster")
}

/// Reads an id. Names hold no `_`, but those of roles may hold `:`, which is written `__`
/// (`sigs.k8s.io/cli-utils/pkg/object`, `ParseObjMetadata`).
fn of_id(entry: &Value) -> Option<Delivered> {
    let (namespace, rest) = entry["id"].as_str()?.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
    Some((GroupKind::new(group, kind), namespace, name.replace("__", ":")))
}

fn of_resource(entry: &Value) -> Option<Delivered> {
    let text = |key: &str| entry[key].as_str().filter(|text| !text.is_empty());
    let kind = GroupKind::new(text("group").unwrap_or_default(), text("kind")?);
    Some((kind, text("namespace").map(str::to_owned), text("name")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(api_version: &str, kind: &str, rest: &Value, want: Option<(&str, &[&str])>) {
        let mut body = rest.clone();
        body["apiVersion"] = api_version.into();
        body["kind"] = kind.into();
        body["metadata"] = json!({"name": "apps", "namespace": "flux-system"});
        let found = inventory_of(&Object::new(body, None).unwrap());
        let tell = |(kind, namespace, name): &Delivered| {
            format!("{kind} {}/{name}", namespace.as_deref().unwrap_or_default())
        };
        let found = found.map(|(owner, all)| (owner.to_string(), all.iter().map(tell).collect::<Vec<_>>()));
        let want = want
            .map(|(owner, all)| (owner.to_owned(), all.iter().map(ToString::to_string).collect::<Vec<_>>()));
        assert_eq!(found, want, "{kind} {rest}");
    }

    #[test]
    fn ids_of_flux_are_read() {
        let entries = json!([{"id": "shop_web_apps_Deployment", "v": "v1"}, {"id": "_shop__Namespace", "v": "v1"},
            {"id": "_a__b_rbac.authorization.k8s.io_ClusterRole", "v": "v1"}, {"id": "broken"}]);
        let all =
            ["Deployment.apps shop/web", "Namespace /shop", "ClusterRole.rbac.authorization.k8s.io /a:b"];
        let status = json!({"inventory": {"entries": entries}});
        let flux = "kustomize.toolkit.fluxcd.io/v1";
        let here = json!({"spec": {}, "status": status});
        check(flux, "Kustomization", &here, Some(("the Flux Kustomization `apps`", &all)));
        check("helm.toolkit.fluxcd.io/v2", "HelmRelease", &here, Some(("the Flux HelmRelease `apps`", &all)));
        let elsewhere = json!({"spec": {"kubeConfig": {"secretRef": {"name": "other"}}}, "status": status});
        check(flux, "Kustomization", &elsewhere, None);
        check(flux, "Kustomization", &json!({"status": {}}), None);
        check("kustomize.config.k8s.io/v1beta1", "Kustomization", &here, None);
    }

    #[test]
    fn resources_of_argo_cd_are_read() {
        let resources = json!([{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            {"version": "v1", "kind": "Namespace", "name": "shop"}]);
        let application = |destination: Value| json!({"spec": {"destination": destination}, "status": {"resources": resources}});
        let found = Some((
            "the Argo CD application `apps`",
            ["Deployment.apps shop/web", "Namespace /shop"].as_slice(),
        ));
        let argo = |destination: Value, want| {
            check("argoproj.io/v1alpha1", "Application", &application(destination), want);
        };
        argo(json!({"server": "https://kubernetes.default.svc"}), found);
        argo(json!({"name": "in-cluster"}), found);
        argo(json!({"server": "https://other.example:6443"}), None);
        argo(json!({"name": "other"}), None);
    }
}
