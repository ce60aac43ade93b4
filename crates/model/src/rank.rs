//! In which order the kinds of one unit are applied; deletions go the other way round.

use crate::GroupKind;

/// Returns a kind's place in the order of applying inside a unit, ascending from 0.
///
/// What others need comes first: definitions, namespaces, classes, rights, configuration, storage. What
/// may stop others comes last: webhooks and policies would otherwise judge objects before their backends run.
/// A kind that is not listed, every custom resource among them, has a place between services and workloads.
pub fn apply_rank(kind: &GroupKind) -> u8 {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 0,
        ("", "Namespace") => 1,
        ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass" | "VolumeAttributesClass" | "CSIDriver")
        | ("networking.k8s.io", "IngressClass")
        | ("node.k8s.io", "RuntimeClass")
        | ("resource.k8s.io", "DeviceClass") => 2,
        ("", "ResourceQuota" | "LimitRange") => 3,
        ("", "ServiceAccount") => 4,
        ("rbac.authorization.k8s.io", _) => 5,
        ("", "ConfigMap" | "Secret") => 6,
        ("", "PersistentVolume") => 7,
        ("", "PersistentVolumeClaim") => 8,
        ("", "Service") => 9,
        ("networking.k8s.io", "NetworkPolicy") => 10,
        ("apps" | "batch", _) | ("", "Pod" | "ReplicationController") => 12,
        ("policy", "PodDisruptionBudget") | ("autoscaling", _) => 13,
        ("apiregistration.k8s.io", _) => 14,
        ("admissionregistration.k8s.io", _) => 15,
        _ => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_need_comes_first() {
        let order = [
            "CustomResourceDefinition.apiextensions.k8s.io",
            "Namespace",
            "StorageClass.storage.k8s.io",
            "ResourceQuota",
            "ServiceAccount",
            "RoleBinding.rbac.authorization.k8s.io",
            "Secret",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Service",
            "NetworkPolicy.networking.k8s.io",
            "Postgresql.acid.zalan.do",
            "StatefulSet.apps",
            "PodDisruptionBudget.policy",
            "APIService.apiregistration.k8s.io",
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
        ];
        let ranks: Vec<u8> =
            order.iter().map(|kind| apply_rank(&GroupKind::from((*kind).to_owned()))).collect();
        assert!(ranks.is_sorted_by(|left, right| left < right), "{ranks:?}");
    }
}
