//! Objects as platforms have them: filled in, not minimal.

use serde_json::{Map, Value, json};

/// Makes one object of a namespace.
pub(crate) type Make = fn(&str, usize) -> Value;

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "bench"}}})
}

pub(crate) fn config_map(namespace: &str, index: usize) -> Value {
    let data: Map<String, Value> = (0..10)
        .map(|key| {
            let value =
                format!("https://service-{key}.{namespace}.example.com/path/{index}?timeout=30s&retries=3");
            (format!("setting.{key}"), Value::from(value))
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(namespace, "settings", index), "data": data})
}

pub(crate) fn secret(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": meta(namespace, "login", index),
        "stringData": {"username": format!("user-{index}"), "password": format!("bench-{namespace}-{index}")}})
}

pub(crate) fn service(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, "app", index),
        "spec": {"selector": {"app": app(index)}, "ports": [
            {"name": "http", "port": 80, "targetPort": "http"},
            {"name": "metrics", "port": 9090, "targetPort": "metrics"}]}})
}

pub(crate) fn service_account(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(namespace, "app", index),
        "automountServiceAccountToken": false})
}

pub(crate) fn role(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta(namespace, "app", index),
        "rules": [{"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}]})
}

pub(crate) fn role_binding(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": meta(namespace, "app", index),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name("app", index)},
        "subjects": [{"kind": "ServiceAccount", "name": name("app", index), "namespace": namespace}]})
}

pub(crate) fn deployment(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(namespace, "app", index),
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": app(index)}}, "template": template(index)}})
}

pub(crate) fn stateful_set(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta(namespace, "db", index),
        "spec": {"serviceName": name("app", index), "replicas": 0, "selector": {"matchLabels": {"app": app(index)}},
            "template": template(index), "volumeClaimTemplates": [{"metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}}]}})
}

pub(crate) fn network_policy(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta(namespace, "deny", index),
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 8080, "protocol": "TCP"}]}]}})
}

pub(crate) fn disruption_budget(namespace: &str, index: usize) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(namespace, "db", index),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app(index)}}}})
}

fn template(index: usize) -> Value {
    let environment: Vec<Value> = (0..8)
        .map(|variable| json!({"name": format!("SETTING_{variable}"), "value": format!("value-{index}")}))
        .collect();
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": 5});
    json!({"metadata": {"labels": {"app": app(index)}},
        "spec": {"serviceAccountName": name("app", index), "securityContext": {"runAsNonRoot": true, "runAsUser": 1000},
            "containers": [{"name": "app", "image": "registry.example.com/team/app:1.27.3", "env": environment,
                "ports": [{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}],
                "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
                "readinessProbe": probe("/ready"), "livenessProbe": probe("/live"),
                "volumeMounts": [{"name": "settings", "mountPath": "/etc/app"}]}],
            "volumes": [{"name": "settings", "configMap": {"name": name("settings", index)}}]}})
}

fn meta(namespace: &str, word: &str, index: usize) -> Value {
    json!({"name": name(word, index), "namespace": namespace, "labels": {
        "app.kubernetes.io/name": app(index), "app.kubernetes.io/part-of": "bench",
        "app.kubernetes.io/version": "1.27.3"}})
}

fn name(word: &str, index: usize) -> String {
    format!("{word}-{index}")
}

fn app(index: usize) -> String {
    name("app", index)
}
