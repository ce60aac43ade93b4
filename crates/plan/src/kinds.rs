//! What kinds mean for planning.

use windlass_model::{GroupKind, holds_data};
pub(crate) use windlass_model::{is_claim, is_namespace, is_stateful_set};

/// Says whether a kind is protected whatever the environment file says.
pub(crate) fn is_protected(kind: &GroupKind) -> bool {
    holds_data(kind) || kind.is("storage.k8s.io", "StorageClass")
}

/// Says whether pods run from `spec.template` and are replaced when it changes.
pub(crate) fn is_workload(kind: &GroupKind) -> bool {
    kind.group == "apps" && matches!(kind.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet")
}

/// Says whether objects of a kind decide over other objects when these are written: admission policies, webhooks, and
/// the rules of the policy engines that work through webhooks.
pub(crate) fn is_policy(kind: &GroupKind) -> bool {
    let group = kind.group.as_str();
    matches!(group, "admissionregistration.k8s.io" | "kyverno.io" | "policies.kyverno.io")
        || group == "gatekeeper.sh"
        || group.ends_with(".gatekeeper.sh")
}

pub(crate) fn is_definition(kind: &GroupKind) -> bool {
    kind.is("apiextensions.k8s.io", "CustomResourceDefinition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_resources_are_protected_and_built_in_ones_are_not() {
        for (kind, want) in [
            ("Postgresql.acid.zalan.do", true),
            ("Cluster.cluster.x-k8s.io", true),
            ("VolumeSnapshot.snapshot.storage.k8s.io", true),
            ("PersistentVolumeClaim", true),
            ("StatefulSet.apps", true),
            ("Secret", true),
            ("StorageClass.storage.k8s.io", true),
            ("Deployment.apps", false),
            ("NetworkPolicy.networking.k8s.io", false),
            ("HTTPRoute.gateway.networking.k8s.io", false),
            ("ConfigMap", false),
            ("HorizontalPodAutoscaler.autoscaling", false),
        ] {
            assert_eq!(is_protected(&GroupKind::from(kind.to_owned())), want, "{kind}");
        }
    }
}
