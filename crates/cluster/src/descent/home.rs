//! Where the descendants of an object can live.

use windlass_model::{GroupKind, Object, is_built_in, is_custom_kind, is_namespace};

/// Where the descendants of an object can live: an owner is in the namespace of what it owns, or in none (Kubernetes
/// documentation, "Owners and Dependents").
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// One namespace.
    Namespace(String),
    /// Any namespace; and namespaces themselves may descend.
    Cluster,
}

impl Home {
    /// Returns where the descendants of an object live, if its kind can have any that hold data or run.
    pub fn of(object: &Object) -> Option<Self> {
        let reference = object.reference();
        let kind = &reference.kind;
        match &reference.namespace {
            None if is_namespace(kind) => Some(Self::Namespace(reference.name.clone())),
            None => is_custom_kind(kind).then_some(Self::Cluster),
            Some(namespace) => has_descendants(kind).then(|| Self::Namespace(namespace.clone())),
        }
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Namespace(name) => Some(name),
            Self::Cluster => None,
        }
    }
}

/// A Gateway holds no data, and its controller may run pods for it all the same.
fn has_descendants(kind: &GroupKind) -> bool {
    let is_core = matches!(kind.kind.as_str(), "Pod" | "ReplicationController") && kind.group.is_empty();
    !is_built_in(kind) || is_core || matches!(kind.group.as_str(), "apps" | "batch")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn where_descendants_live() {
        let check = |api_version: &str, kind: &str, namespace: Option<&str>, want: Option<Home>| {
            let metadata = json!({"name": "a", "namespace": namespace});
            let body = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
            assert_eq!(Home::of(&Object::new(body, None).unwrap()), want, "{kind}");
        };
        let inside = |name: &str| Some(Home::Namespace(name.to_owned()));
        check("v1", "Namespace", None, inside("a"));
        check("apps/v1", "Deployment", Some("shop"), inside("shop"));
        check("v1", "Pod", Some("shop"), inside("shop"));
        check("v1", "ConfigMap", Some("shop"), None);
        check("acid.zalan.do/v1", "postgresql", Some("shop"), inside("shop"));
        // Rules to Kubernetes, pods and a load balancer to those who implement it.
        check("gateway.networking.k8s.io/v1", "Gateway", Some("shop"), inside("shop"));
        check("capsule.clastix.io/v1", "Tenant", None, Some(Home::Cluster));
        check("rbac.authorization.k8s.io/v1", "ClusterRole", None, None);
    }
}
