//! Objects as platforms have them: filled in, not minimal. No pod starts: workloads have no replicas.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A kind of the mix.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The path of its API group and version.
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    /// How many of a hundred objects are of it.
    pub(crate) share: usize,
    /// Makes the object of a namespace and a number.
    pub(crate) make: fn(&str, usize) -> Value,
}

/// The shares of a platform that runs databases.
pub(crate) static MIX: [Kind; 10] = [
    Kind { group: "/api/v1", plural: "configmaps", share: 30, make: config_map },
    Kind { group: "/api/v1", plural: "secrets", share: 15, make: secret },
    Kind { group: "/api/v1", plural: "services", share: 15, make: service },
    Kind { group: "/apis/apps/v1", plural: "statefulsets", share: 12, make: stateful_set },
    Kind { group: "/apis/apps/v1", plural: "deployments", share: 10, make: deployment },
    Kind { group: "/api/v1", plural: "serviceaccounts", share: 6, make: service_account },
    Kind { group: "/apis/rbac.authorization.k8s.io/v1", plural: "roles", share: 4, make: role },
    Kind {
        group: "/apis/rbac.authorization.k8s.io/v1",
        plural: "rolebindings",
        share: 4,
        make: role_binding,
    },
    Kind { group: "/apis/networking.k8s.io/v1", plural: "networkpolicies", share: 2, make: network_policy },
    Kind { group: "/apis/policy/v1", plural: "poddisruptionbudgets", share: 2, make: disruption_budget },
];

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "bench"}}})
}

/// Settings as a file of 1 to 3 KiB, and one of its own.
fn config_map(namespace: &str, index: usize) -> Value {
    let mut file = String::new();
    for line in 0..10 + index % 3 * 10 {
        let _ = writeln!(
            file,
            "service.{line}.url=https://service-{line}.{namespace}.example.com/path/{index}?timeout=30s&retries=3"
        );
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(namespace, index),
        "data": {"app.properties": file, "log.level": "info"}})
}

/// Digits, a multiple of four of them, are base64 of something.
fn secret(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": meta(namespace, index),
        "data": {"username": format!("{index:08}"), "password": format!("{index:032}")}})
}

fn service(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, index),
        "spec": {"selector": {"app": app(index)}, "ports": [
            {"name": "http", "port": 80, "targetPort": "http"},
            {"name": "metrics", "port": 9090, "targetPort": "metrics"}]}})
}

fn service_account(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(namespace, index),
        "automountServiceAccountToken": false})
}

fn role(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta(namespace, index),
        "rules": [{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}]})
}

fn role_binding(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": meta(namespace, index),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": app(index), "namespace": namespace}]})
}

fn deployment(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(namespace, index),
        "spec": {"replicas": 0, "revisionHistoryLimit": 5, "selector": {"matchLabels": {"app": app(index)}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": template(index, &["app"])}})
}

fn stateful_set(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta(namespace, index),
        "spec": {"serviceName": app(index), "replicas": 0, "selector": {"matchLabels": {"app": app(index)}},
            "template": template(index, &["server", "exporter"]),
            "volumeClaimTemplates": [{"metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}}]}})
}

fn network_policy(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta(namespace, index),
        "spec": {"podSelector": {"matchLabels": {"app": app(index)}}, "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 8080, "protocol": "TCP"}]}]}})
}

fn disruption_budget(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(namespace, index),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app(index)}}}})
}

fn template(index: usize, containers: &[&str]) -> Value {
    let containers: Vec<Value> = containers.iter().map(|name| container(index, name)).collect();
    json!({"metadata": {"labels": {"app": app(index)}, "annotations": {"prometheus.io/scrape": "true"}},
        "spec": {"serviceAccountName": "default", "terminationGracePeriodSeconds": 60,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "fsGroup": 1000},
            "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100,
                "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {"matchLabels": {"app": app(index)}}}}]}},
            "containers": containers, "volumes": [{"name": "settings", "configMap": {"name": app(index)}}]}})
}

fn container(index: usize, name: &str) -> Value {
    let environment: Vec<Value> = (0..4)
        .map(|variable| json!({"name": format!("SETTING_{variable}"), "value": format!("value-{index}")}))
        .collect();
    json!({"name": name, "image": format!("registry.example.com/team/{name}:1.27.3"), "env": environment,
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "livenessProbe": {"tcpSocket": {"port": "http"}, "initialDelaySeconds": 30},
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/app", "readOnly": true}]})
}

fn meta(namespace: &str, index: usize) -> Value {
    json!({"name": app(index), "namespace": namespace, "labels": {
        "app.kubernetes.io/name": app(index), "app.kubernetes.io/part-of": "bench",
        "app.kubernetes.io/version": "1.27.3"}})
}

fn app(index: usize) -> String {
    format!("app-{index}")
}
