//! Which kinds are namespaced.

use std::collections::HashMap;

use serde_json::Value;
use windlass_model::GroupKind;

/// The namespaced kinds of Kubernetes itself, by group.
const NAMESPACED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "Binding",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    ("apps", &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("authorization.k8s.io", &["LocalSubjectAccessReview"]),
    ("autoscaling", &["HorizontalPodAutoscaler"]),
    ("batch", &["CronJob", "Job"]),
    ("coordination.k8s.io", &["Lease", "LeaseCandidate"]),
    ("discovery.k8s.io", &["EndpointSlice"]),
    ("events.k8s.io", &["Event"]),
    ("networking.k8s.io", &["Ingress", "NetworkPolicy"]),
    ("policy", &["PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io", &["Role", "RoleBinding"]),
    ("resource.k8s.io", &["ResourceClaim", "ResourceClaimTemplate"]),
    ("storage.k8s.io", &["CSIStorageCapacity"]),
];

/// The cluster-scoped kinds of Kubernetes itself, by group.
const CLUSTER: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("authentication.k8s.io", &["SelfSubjectReview", "TokenReview"]),
    ("authorization.k8s.io", &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "storage.k8s.io",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
];

/// What the rendering itself says about kinds: the CRDs in it.
#[derive(Default)]
pub(crate) struct Definitions(HashMap<GroupKind, Value>);

impl Definitions {
    /// Takes a CRD; other objects are ignored.
    pub(crate) fn take(&mut self, body: &Value) {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        let group = text("/apiVersion").and_then(|version| version.split_once('/'));
        if text("/kind") != Some("CustomResourceDefinition")
            || group.is_none_or(|(group, _)| group != "apiextensions.k8s.io")
        {
            return;
        }
        if let (Some(group), Some(defined)) = (text("/spec/group"), text("/spec/names/kind")) {
            self.0.insert(GroupKind::new(group, defined), body["spec"].clone());
        }
    }

    /// Says whether a kind is namespaced, if it is known: by a CRD of the rendering, by Kubernetes, by the caller.
    pub(crate) fn namespaced(
        &self,
        kind: &GroupKind,
        scopes: impl Fn(&GroupKind) -> Option<bool>,
    ) -> Option<bool> {
        match self.0.get(kind).and_then(|spec| spec["scope"].as_str()) {
            Some("Namespaced") => Some(true),
            Some("Cluster") => Some(false),
            _ => built_in(kind).or_else(|| scopes(kind)),
        }
    }

    /// Returns the schema of a kind's version, if the rendering defines the kind.
    pub(crate) fn schema(&self, kind: &GroupKind, version: &str) -> Option<&Value> {
        let versions = self.0.get(kind)?.get("versions")?.as_array()?;
        versions.iter().find(|entry| entry["name"] == version)?.pointer("/schema/openAPIV3Schema")
    }
}

/// Says whether a kind of Kubernetes itself is namespaced; `None` for other kinds.
pub(crate) fn built_in(kind: &GroupKind) -> Option<bool> {
    let listed = |table: &[(&str, &[&str])]| {
        table.iter().any(|(group, kinds)| *group == kind.group && kinds.contains(&kind.kind.as_str()))
    };
    if listed(NAMESPACED) {
        Some(true)
    } else if listed(CLUSTER) {
        Some(false)
    } else {
        None
    }
}
