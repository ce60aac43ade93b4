//! One object of each of many kinds, with what is hard to merge: lists with keys, sets, values that are owned as a whole,
//! quantities, fields that are left out.

use serde_json::{Value, json};

/// Returns the API group of the custom kind.
pub(super) fn group(suffix: &str) -> String {
    format!("r{suffix}.example.com")
}

/// Returns the objects; those without a namespace are named by the suffix.
pub(super) fn objects(namespace: &str, suffix: &str) -> Vec<Value> {
    let object = |version: &str, kind: &str, rest: Value| {
        let mut body = json!({"apiVersion": version, "kind": kind,
            "metadata": {"name": "a", "namespace": namespace, "labels": {"team": "shop"}}});
        for (key, value) in rest.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    let global = |version: &str, kind: &str, rest: Value| {
        let mut body = object(version, kind, rest);
        body["metadata"] = json!({"name": format!("reading-{suffix}"), "labels": {"team": "shop"}});
        body
    };
    let workload = |kind: &str, more: Value| {
        let mut spec = json!({"selector": {"matchLabels": {"app": kind}}, "template": template(kind)});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        object("apps/v1", kind, json!({"spec": spec}))
    };
    let job = json!({"suspend": true, "template": {"spec": {"restartPolicy": "Never",
        "containers": [{"name": "a", "image": "registry.example/a:1"}]}}});
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let role = "rbac.authorization.k8s.io";
    let group = group(suffix);
    vec![
        definition(&group),
        object("v1", "ConfigMap", json!({"data": {"a": "1", "b": "1000m"}})),
        object("v1", "Secret", json!({"data": {"k": "aHVudGVyMg=="}, "type": "Opaque"})),
        object(
            "v1",
            "ServiceAccount",
            json!({"imagePullSecrets": [{"name": "pull"}], "automountServiceAccountToken": false}),
        ),
        object(
            "v1",
            "Service",
            json!({"spec": {"selector": {"app": "a"},
            "ports": [{"name": "sql", "port": 5432}, {"name": "dns", "port": 53, "protocol": "UDP"}]}}),
        ),
        object("v1", "ResourceQuota", json!({"spec": {"hard": {"requests.cpu": "90000m", "pods": 90}}})),
        object(
            "v1",
            "LimitRange",
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "4000m"}}]}}),
        ),
        object(
            "v1",
            "PersistentVolumeClaim",
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "reading-none",
            "resources": {"requests": {"storage": "1024Mi"}}}}),
        ),
        object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            json!({"spec": {"podSelector": {"matchLabels": {"app": "a"}},
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 5432}]}], "policyTypes": ["Ingress"]}}),
        ),
        object(
            "networking.k8s.io/v1",
            "Ingress",
            json!({"spec": {"rules": [{"host": "a.example.com", "http": {"paths": [
            {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}}),
        ),
        object(
            "policy/v1",
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}}),
        ),
        object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"spec": {"minReplicas": 1, "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1000m"}}}]}}),
        ),
        object("batch/v1", "Job", json!({"spec": job})),
        object(
            "batch/v1",
            "CronJob",
            json!({"spec": {"schedule": "0 3 * * *", "suspend": true, "jobTemplate": {"spec": job}}}),
        ),
        workload(
            "StatefulSet",
            json!({"serviceName": "a", "replicas": 0, "volumeClaimTemplates": [{"metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}}]}),
        ),
        workload(
            "Deployment",
            json!({"replicas": 0, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}),
        ),
        workload("DaemonSet", json!({})),
        object("v1", "PodTemplate", json!({"template": template("pt")})),
        object(&format!("{role}/v1"), "Role", json!({"rules": rules})),
        object(
            &format!("{role}/v1"),
            "RoleBinding",
            json!({"roleRef": {"apiGroup": role, "kind": "Role", "name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}, {"kind": "Group", "name": "g"}]}),
        ),
        object(
            &format!("{group}/v1"),
            "Foo",
            json!({"spec": {"size": 3, "cpu": "1000m", "tags": ["a", "b"],
            "list": ["x", "y"], "parts": [{"name": "one", "value": 1}, {"name": "two", "value": 2}], "free": {"k": "v"}}}),
        ),
        global(&format!("{role}/v1"), "ClusterRole", json!({"rules": rules})),
        global(
            &format!("{role}/v1"),
            "ClusterRoleBinding",
            json!({"roleRef": {"apiGroup": role, "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "Group", "name": "nobody"}]}),
        ),
        global(
            "storage.k8s.io/v1",
            "StorageClass",
            json!({"provisioner": "example.com/none", "parameters": {"tier": "fast"},
            "mountOptions": ["noatime"]}),
        ),
        global("scheduling.k8s.io/v1", "PriorityClass", json!({"value": 7, "description": "a test"})),
        global(
            "v1",
            "PersistentVolume",
            json!({"spec": {"capacity": {"storage": "1024Mi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/nowhere"}, "storageClassName": "reading-none"}}),
        ),
        global("v1", "Namespace", json!({})),
        global(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            json!({"spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["nothings"]}]}, "validations": [{"expression": "true", "message": "fine"}]}}),
        ),
        global(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            json!({"webhooks": [{"name": "w.example.com",
            "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
            "clientConfig": {"service": {"namespace": namespace, "name": "none"}},
            "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothings"]}]}]}),
        ),
    ]
}

/// Returns kind and name of the objects that no namespace takes along.
pub(super) fn without_namespace(objects: &[Value]) -> impl Iterator<Item = (String, String)> + '_ {
    let global = objects.iter().filter(|object| object["metadata"]["namespace"].is_null());
    global.map(|object| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&object["kind"]).to_lowercase(), text(&object["metadata"]["name"]))
    })
}

fn definition(group: &str) -> Value {
    let part = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
        "value": {"type": "integer"}, "mode": {"type": "string", "default": "fast"}}});
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer", "default": 1}, "cpu": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "list": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "items": part, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("foos.{group}"), "labels": {"team": "shop"}},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec,
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
}

fn template(label: &str) -> Value {
    json!({"metadata": {"labels": {"app": label}}, "spec": {
        "nodeSelector": {"reading": "nowhere"},
        "tolerations": [{"key": "spot", "operator": "Exists"}],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1024Mi"}}, {"name": "config", "configMap": {"name": "a"}}],
        "initContainers": [{"name": "init", "image": "registry.example/init:1"}],
        "containers": [
            {"name": "main", "image": "registry.example/main:1", "args": ["--a", "--b"],
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
                "env": [{"name": "A", "value": "1"}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "resources": {"requests": {"cpu": "1000m", "memory": "0.5Gi"}, "limits": {"cpu": 2}},
                "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]},
            {"name": "side", "image": "registry.example/side:1"}]}})
}
