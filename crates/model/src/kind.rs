//! What a kind is: built in or somebody's own.

use crate::{GroupKind, Object};

/// The API groups with a dot in their name that the API server itself serves (`k8s.io/api` and
/// `k8s.io/kubernetes/pkg/apis` of 1.36). A suffix does not tell: anybody may define a group below `k8s.io`
/// (KEP-2337 asks for a review and no more), and `snapshot.storage.k8s.io` holds data.
const BUILT_IN: [&str; 21] = [
    "admission.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
    "storageversionmigrator.k8s.io",
];

/// Groups of Kubernetes' own projects whose objects are rules or measurements: they hold no data.
const HARMLESS: [&str; 6] = [
    "autoscaling.k8s.io",
    "custom.metrics.k8s.io",
    "external.metrics.k8s.io",
    "gateway.networking.k8s.io",
    "metrics.k8s.io",
    "policy.networking.k8s.io",
];

/// Says whether a kind is a custom resource: what its deletion takes along, only its operator knows, and only
/// while that operator runs may its objects be able to go.
pub fn is_custom_kind(kind: &GroupKind) -> bool {
    let group = kind.group.as_str();
    group.contains('.') && !BUILT_IN.contains(&group) && !HARMLESS.contains(&group)
}

/// Says whether a deletion can take data along that nothing brings back.
pub fn holds_data(kind: &GroupKind) -> bool {
    is_custom_kind(kind)
        || ["Namespace", "PersistentVolume", "PersistentVolumeClaim", "Secret"]
            .iter()
            .any(|name| kind.is("", name))
        || kind.is("apps", "StatefulSet")
        || kind.is("apiextensions.k8s.io", "CustomResourceDefinition")
}

/// Says whether a kind is that of namespaces.
pub fn is_namespace(kind: &GroupKind) -> bool {
    kind.is("", "Namespace")
}

/// Says whether a kind is that of PersistentVolumeClaims.
pub fn is_claim(kind: &GroupKind) -> bool {
    kind.is("", "PersistentVolumeClaim")
}

/// Says whether a kind is that of StatefulSets.
pub fn is_stateful_set(kind: &GroupKind) -> bool {
    kind.is("apps", "StatefulSet")
}

/// Says whether the API server knows a kind itself, and not by a CustomResourceDefinition or another server.
pub fn is_built_in(kind: &GroupKind) -> bool {
    let group = kind.group.as_str();
    !group.contains('.') || BUILT_IN.contains(&group)
}

/// Returns the kind that an object defines, if it is a CustomResourceDefinition.
pub fn defined_kind(object: &Object) -> Option<GroupKind> {
    if !object.reference().kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        return None;
    }
    let text = |pointer: &str| object.body().pointer(pointer)?.as_str();
    Some(GroupKind::new(text("/spec/group")?, text("/spec/names/kind")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whoever defines `Database.anybody.k8s.io` was believed to be Kubernetes itself, and its objects to hold nothing.
    #[test]
    fn custom_kinds_are_told_by_their_group() {
        for (kind, want) in [
            ("Postgresql.acid.zalan.do", true),
            ("Cluster.cluster.x-k8s.io", true),
            ("VolumeSnapshot.snapshot.storage.k8s.io", true),
            ("Application.app.k8s.io", true),
            ("Cluster.cluster.k8s.io", true),
            ("Database.anybody.k8s.io", true),
            ("Ingress.networking.k8s.io", false),
            ("StorageVersionMigration.storagemigration.k8s.io", false),
            ("FlowSchema.flowcontrol.apiserver.k8s.io", false),
            ("Lease.coordination.k8s.io", false),
            ("HTTPRoute.gateway.networking.k8s.io", false),
            ("HorizontalPodAutoscaler.autoscaling", false),
            ("Endpoints", false),
        ] {
            assert_eq!(is_custom_kind(&GroupKind::from(kind.to_owned())), want, "{kind}");
        }
    }

    #[test]
    fn a_definition_says_what_it_defines() {
        let object = |api_version: &str, kind: &str| {
            let body = json!({
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "as.x.dev"},
                "spec": {"group": "x.dev", "names": {"kind": "A"}},
            });
            Object::new(body, None).unwrap()
        };
        let definition = object("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(defined_kind(&definition), Some(GroupKind::new("x.dev", "A")));
        assert_eq!(defined_kind(&object("x.dev/v1", "CustomResourceDefinition")), None);
    }
}
