//! Other delivery tools that own a live object.

use windlass_model::Object;

/// Labels and annotations by which a tool claims what it delivers.
const CLAIMS: [(&str, &str); 6] = [
    ("kustomize.toolkit.fluxcd.io/name", "the Flux Kustomization"),
    ("helm.toolkit.fluxcd.io/name", "the Flux HelmRelease"),
    ("argocd.argoproj.io/instance", "the Argo CD application"),
    ("argocd.argoproj.io/tracking-id", "the Argo CD application"),
    ("kapp.k14s.io/app", "the kapp application"),
    ("configsync.gke.io/resource-id", "Config Sync's object"),
];

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const RELEASE: &str = "meta.helm.sh/release-name";

/// Returns who else delivers a live object, if its labels and annotations say so.
///
/// Helm counts only with the annotation that it sets itself: the label alone is in most rendered charts.
pub(crate) fn of(live: &Object) -> Option<String> {
    let find = |key: &str| live.label(key).or_else(|| live.annotation(key));
    if find(MANAGED_BY) == Some("Helm")
        && let Some(release) = live.annotation(RELEASE)
    {
        return Some(format!("the Helm release `{release}`"));
    }
    CLAIMS.iter().find_map(|(key, tool)| Some(format!("{tool} `{}`", find(key)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn claims_of_other_tools() {
        let check = |labels: Value, annotations: Value, want: Option<&str>| {
            let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "labels": labels, "annotations": annotations}});
            assert_eq!(of(&Object::new(body, None).unwrap()).as_deref(), want);
        };
        let none = json!({});
        let helm = json!({MANAGED_BY: "Helm"});
        check(helm.clone(), json!({RELEASE: "shop"}), Some("the Helm release `shop`"));
        check(helm, none.clone(), None);
        check(
            json!({"kustomize.toolkit.fluxcd.io/name": "apps"}),
            none.clone(),
            Some("the Flux Kustomization `apps`"),
        );
        check(
            none.clone(),
            json!({"argocd.argoproj.io/tracking-id": "a:b"}),
            Some("the Argo CD application `a:b`"),
        );
        check(json!({"app.kubernetes.io/instance": "a"}), none, None);
    }
}
