//! Other delivery tools that own a live object.

use std::fmt;

use serde_json::Value;

use crate::{Object, apply_entry};

/// A delivery tool that marks what it delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Helm: it acts only when somebody runs it, and its marks outlive it.
    Helm,
    /// Flux, which applies again every few minutes.
    Flux,
    /// Argo CD, which applies again within minutes where it may.
    ArgoCd,
    /// kapp.
    Kapp,
    /// Config Sync, which refuses everybody else's changes.
    ConfigSync,
}

/// Who else delivers an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The tool.
    pub tool: Tool,
    /// The tool's word for one delivery, such as `Flux Kustomization`.
    unit: &'static str,
    /// The name of that delivery.
    pub name: String,
}

impl Owner {
    /// Names a delivery of a tool; `unit` is the tool's word for one, such as `Flux Kustomization`.
    pub fn new(tool: Tool, unit: &'static str, name: &str) -> Self {
        Self { tool, unit, name: name.to_owned() }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} `{}`", self.unit, self.name)
    }
}

/// Labels and annotations by which a tool marks what it delivers.
const MARKS: [(&str, Tool, &str); 6] = [
    ("kustomize.toolkit.fluxcd.io/name", Tool::Flux, "Flux Kustomization"),
    ("helm.toolkit.fluxcd.io/name", Tool::Flux, "Flux HelmRelease"),
    ("argocd.argoproj.io/instance", Tool::ArgoCd, "Argo CD application"),
    ("argocd.argoproj.io/tracking-id", Tool::ArgoCd, "Argo CD application"),
    ("kapp.k14s.io/app", Tool::Kapp, "kapp application"),
    ("configsync.gke.io/resource-id", Tool::ConfigSync, "Config Sync object"),
];

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const RELEASE: &str = "meta.helm.sh/release-name";

/// Returns who else delivers a live object, if its labels and annotations say so.
///
/// Helm counts only with the annotation that it sets itself: the label alone is in most rendered charts. A mark that
/// `manager` applies is part of the manifest and tells nothing.
pub fn other_owner(live: &Object, manager: &str) -> Option<Owner> {
    let find = |key: &str| {
        live.label(key).or_else(|| live.annotation(key)).filter(|_| !declares(live, manager, key))
    };
    if live.label(MANAGED_BY) == Some("Helm")
        && let Some(name) = find(RELEASE)
    {
        return Some(Owner::new(Tool::Helm, "Helm release", name));
    }
    MARKS.iter().find_map(|(key, tool, unit)| {
        // Argo CD's tracking id goes on with the object: `shop:apps/Deployment:shop/web`.
        let mark = find(key)?;
        let name = mark.split(':').next().unwrap_or(mark);
        Some(Owner::new(*tool, unit, name))
    })
}

/// Says whether a manager applies a label or an annotation itself.
fn declares(live: &Object, manager: &str, key: &str) -> bool {
    let field = format!("f:{key}");
    let owns = |fields: &Value| {
        ["f:labels", "f:annotations"].iter().any(|list| fields["f:metadata"][list].get(&field).is_some())
    };
    apply_entry(live, manager).is_some_and(|entry| owns(&entry.tree()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(labels: &Value, annotations: &Value, declared: &Value) -> Object {
        let ours = json!({"manager": "windlass", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": declared}}});
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "labels": labels, "annotations": annotations, "managedFields": [ours]}});
        Object::new(body, None).unwrap()
    }

    #[test]
    fn marks_of_other_tools() {
        let check = |labels: Value, annotations: Value, want: Option<&str>| {
            let owner = other_owner(&object(&labels, &annotations, &json!({})), "windlass");
            assert_eq!(owner.map(|owner| owner.to_string()).as_deref(), want);
        };
        let none = json!({});
        let helm = json!({MANAGED_BY: "Helm"});
        check(helm.clone(), json!({RELEASE: "shop"}), Some("the Helm release `shop`"));
        check(helm, none.clone(), None);
        check(none.clone(), json!({RELEASE: "shop"}), None);
        let flux = json!({"kustomize.toolkit.fluxcd.io/name": "apps"});
        check(flux, none.clone(), Some("the Flux Kustomization `apps`"));
        let argo = json!({"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"});
        check(none.clone(), argo, Some("the Argo CD application `shop`"));
        check(json!({"app.kubernetes.io/instance": "a"}), none, None);
    }

    #[test]
    fn a_mark_that_the_manifest_declares_is_no_evidence() {
        let labels = json!({"argocd.argoproj.io/instance": "a"});
        let of = |declared: Value| other_owner(&object(&labels, &json!({}), &declared), "windlass");
        assert!(of(json!({})).is_some());
        assert_eq!(of(json!({"f:argocd.argoproj.io/instance": {}})), None);
    }
}
