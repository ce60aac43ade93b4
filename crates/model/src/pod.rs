//! What a pod needs of the objects of its namespace.

use serde_json::Value;

use crate::{GroupKind, Object, ObjectRef};

/// Says whether pods need objects of a kind to start: without them a pod that is created anew never does.
pub fn is_used_by_pods(kind: &GroupKind) -> bool {
    kind.group.is_empty()
        && matches!(kind.kind.as_str(), "ConfigMap" | "Secret" | "ServiceAccount" | "PersistentVolumeClaim")
}

/// Says whether a pod that is not finished names an object: in its volumes, its containers' environment, its
/// image pull secrets, or as its account.
pub fn pod_uses(pod: &Object, object: &ObjectRef) -> bool {
    let body = pod.body();
    let finished =
        matches!(body.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"));
    if finished || !is_used_by_pods(&object.kind) || pod.reference().namespace != object.namespace {
        return false;
    }
    let spec = &body["spec"];
    let name = object.name.as_str();
    match object.kind.kind.as_str() {
        "ConfigMap" => {
            volumes(spec).any(|volume| volume["configMap"]["name"] == name)
                || environment(spec).any(|source| {
                    source["configMapRef"]["name"] == name || source["configMapKeyRef"]["name"] == name
                })
        }
        "Secret" => {
            volumes(spec).any(|volume| is_secret_volume(volume, name))
                || environment(spec).any(|source| {
                    source["secretRef"]["name"] == name || source["secretKeyRef"]["name"] == name
                })
                || items(&spec["imagePullSecrets"]).any(|secret| secret["name"] == name)
        }
        "ServiceAccount" => spec["serviceAccountName"] == name,
        _ => items(&spec["volumes"]).any(|volume| volume["persistentVolumeClaim"]["claimName"] == name),
    }
}

/// Returns the volumes and the sources of projected ones.
fn volumes(spec: &Value) -> impl Iterator<Item = &Value> {
    items(&spec["volumes"])
        .flat_map(|volume| std::iter::once(volume).chain(items(&volume["projected"]["sources"])))
}

/// Storage drivers name their credentials in fields of several names.
fn is_secret_volume(volume: &Value, name: &str) -> bool {
    let named = |source: &Value| {
        source["secretRef"]["name"] == name
            || source["nodePublishSecretRef"]["name"] == name
            || source["secretName"] == name
    };
    volume["secret"]["name"] == name
        || volume.as_object().into_iter().flatten().any(|(_, source)| named(source))
}

/// Returns what the environment of all containers is taken from: items of `envFrom` and each `valueFrom`.
fn environment(spec: &Value) -> impl Iterator<Item = &Value> {
    let containers =
        ["containers", "initContainers", "ephemeralContainers"].into_iter().map(|field| &spec[field]);
    containers.flat_map(items).flat_map(|container| {
        items(&container["envFrom"]).chain(items(&container["env"]).map(|variable| &variable["valueFrom"]))
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(spec: &Value, phase: &str) -> Object {
        let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"},
            "spec": spec, "status": {"phase": phase}});
        Object::new(body, None).unwrap()
    }

    fn reference(kind: &str, namespace: &str) -> ObjectRef {
        let kind = GroupKind::from(kind.to_owned());
        ObjectRef { kind, version: "v1".into(), namespace: Some(namespace.into()), name: "a".into() }
    }

    #[test]
    fn every_way_to_name_an_object_counts() {
        let volume = |volume: Value| json!({"volumes": [{"emptyDir": {}}, volume]});
        let container = |field: &str, container: Value| json!({field: [{}, container]});
        for (kind, spec) in [
            ("ConfigMap", volume(json!({"configMap": {"name": "a"}}))),
            ("ConfigMap", volume(json!({"projected": {"sources": [{"configMap": {"name": "a"}}]}}))),
            ("ConfigMap", container("containers", json!({"envFrom": [{"configMapRef": {"name": "a"}}]}))),
            (
                "ConfigMap",
                container(
                    "initContainers",
                    json!({"env": [{"valueFrom": {"configMapKeyRef": {"name": "a"}}}]}),
                ),
            ),
            ("Secret", volume(json!({"secret": {"secretName": "a"}}))),
            ("Secret", volume(json!({"projected": {"sources": [{"secret": {"name": "a"}}]}}))),
            ("Secret", volume(json!({"csi": {"nodePublishSecretRef": {"name": "a"}}}))),
            ("Secret", volume(json!({"cephfs": {"secretRef": {"name": "a"}}}))),
            ("Secret", container("containers", json!({"envFrom": [{"secretRef": {"name": "a"}}]}))),
            (
                "Secret",
                container(
                    "containers",
                    json!({"env": [{"value": "x"}, {"valueFrom": {"secretKeyRef": {"name": "a"}}}]}),
                ),
            ),
            ("Secret", json!({"imagePullSecrets": [{"name": "a"}]})),
            ("ServiceAccount", json!({"serviceAccountName": "a"})),
            ("PersistentVolumeClaim", volume(json!({"persistentVolumeClaim": {"claimName": "a"}}))),
        ] {
            let other = if kind == "Secret" { "ConfigMap" } else { "Secret" };
            assert!(pod_uses(&pod(&spec, "Running"), &reference(kind, "shop")), "{kind} {spec}");
            assert!(pod_uses(&pod(&spec, "Pending"), &reference(kind, "shop")), "{kind} {spec}");
            assert!(!pod_uses(&pod(&spec, "Running"), &reference(other, "shop")), "{other} {spec}");
            assert!(!pod_uses(&pod(&spec, "Running"), &reference(kind, "elsewhere")), "{kind} {spec}");
            assert!(!pod_uses(&pod(&spec, "Succeeded"), &reference(kind, "shop")), "{kind} {spec}");
            assert!(!pod_uses(&pod(&spec, "Failed"), &reference(kind, "shop")), "{kind} {spec}");
        }
        assert!(!pod_uses(&pod(&json!({}), "Running"), &reference("ConfigMap", "shop")));
    }
}
