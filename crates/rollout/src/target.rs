//! What is waited for.

use windlass_model::{Object, ObjectRef, is_custom_kind};

/// An object that must become ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The object.
    pub object: ObjectRef,
    /// The uid it must have; another one means that somebody deleted and created it meanwhile.
    pub uid: Option<String>,
    /// The generation that the own apply made, or the live one if nothing changed. Status of an earlier
    /// generation says nothing.
    pub generation: Option<i64>,
    /// Whether this run changed the object.
    pub changed: bool,
}

impl Target {
    /// Makes a target of a live object, as an apply or a read answered it.
    pub fn of(live: &Object, changed: bool) -> Self {
        Self {
            object: live.reference().clone(),
            uid: live.uid().map(str::to_owned),
            generation: live.generation(),
            changed,
        }
    }
}

/// Returns the targets among live objects, each given with whether this run changed it.
pub fn targets<'a>(live: impl IntoIterator<Item = (&'a Object, bool)>) -> Vec<Target> {
    live.into_iter()
        .filter(|(object, _)| is_waited_for(object))
        .map(|(object, changed)| Target::of(object, changed))
        .collect()
}

/// Says whether an object becomes ready some time after it was applied.
///
/// A Service counts if it is of type LoadBalancer: smoke probes need its address.
pub fn is_waited_for(object: &Object) -> bool {
    let kind = &object.reference().kind;
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job")
        | ("apiextensions.k8s.io", "CustomResourceDefinition")
        | ("apiregistration.k8s.io", "APIService")
        | ("", "PersistentVolumeClaim" | "Namespace" | "Pod") => true,
        ("", "Service") => object.body()["spec"]["type"] == "LoadBalancer",
        _ => false,
    }
}

/// Says whether only the object's operator knows when it is ready, so that nothing may be said about it.
///
/// A new custom resource has no status, or that of an earlier generation, until its operator has seen it; tools that
/// take this for ready go on too early (kustomize-controller issue 387, cluster-api issue 9299).
pub fn is_left_to_operator(object: &Object) -> bool {
    is_custom_kind(&object.reference().kind) && !is_waited_for(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_becomes_ready_is_waited_for() {
        let check = |api_version: &str, kind: &str, spec: serde_json::Value, want: bool| {
            let body =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
            assert_eq!(is_waited_for(&Object::new(body, None).unwrap()), want, "{kind} {spec}");
        };
        check("apps/v1", "StatefulSet", json!({}), true);
        check("v1", "ConfigMap", json!({}), false);
        check("v1", "Service", json!({}), false);
        check("v1", "Service", json!({"type": "LoadBalancer"}), true);
        check("example.com/v1", "Deployment", json!({}), false);
    }

    #[test]
    fn of_custom_resources_nothing_is_said() {
        let check = |api_version: &str, kind: &str, want: bool| {
            let body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
            assert_eq!(is_left_to_operator(&Object::new(body, None).unwrap()), want, "{kind}");
        };
        check("example.com/v1", "Deployment", true);
        check("apps/v1", "Deployment", false);
        check("v1", "ConfigMap", false);
        check("apiextensions.k8s.io/v1", "CustomResourceDefinition", false);
    }
}
