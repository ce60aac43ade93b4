//! What a pod needs of the objects of its namespace.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{GroupKind, Object, ObjectRef};

/// How a pod takes in an object, which decides when it notices that the object has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PodUse {
    /// As environment variables, read when a container starts.
    Environment,
    /// As files that the kubelet renews about a minute after a change.
    Files,
    /// As files below a `subPath`, which are never renewed.
    FixedFiles,
    /// Otherwise: as its account, as a claim, for pulling images, as a storage driver's credentials.
    Other,
}

/// Says whether pods need objects of a kind to start: without them a pod that is created anew never does.
pub fn is_used_by_pods(kind: &GroupKind) -> bool {
    kind.group.is_empty()
        && matches!(kind.kind.as_str(), "ConfigMap" | "Secret" | "ServiceAccount" | "PersistentVolumeClaim")
}

/// Says whether a pod that is not finished names an object: in its volumes, its containers' environment, its
/// image pull secrets, or as its account.
pub fn pod_uses(pod: &Object, object: &ObjectRef) -> bool {
    let phase = pod.body().pointer("/status/phase").and_then(Value::as_str);
    let finished = matches!(phase, Some("Succeeded" | "Failed"));
    !finished
        && pod.reference().namespace == object.namespace
        && !uses_of(&pod.body()["spec"], object).is_empty()
}

/// Returns the ways in which a pod with this `spec` would take in an object of its own namespace; empty if it does
/// not name it.
pub fn uses_of(spec: &Value, object: &ObjectRef) -> BTreeSet<PodUse> {
    let mut uses = BTreeSet::new();
    if !is_used_by_pods(&object.kind) {
        return uses;
    }
    let name = object.name.as_str();
    match object.kind.kind.as_str() {
        "ConfigMap" => {
            uses.extend(environment(spec, "configMapRef", "configMapKeyRef", name));
            uses.extend(files(spec, |source| source["configMap"]["name"] == name));
        }
        "Secret" => {
            uses.extend(environment(spec, "secretRef", "secretKeyRef", name));
            let is_file =
                |source: &Value| source["secret"]["secretName"] == name || source["secret"]["name"] == name;
            uses.extend(files(spec, is_file));
            let other = items(&spec["volumes"]).any(|volume| is_credential(volume, name))
                || items(&spec["imagePullSecrets"]).any(|secret| secret["name"] == name);
            uses.extend(other.then_some(PodUse::Other));
        }
        "ServiceAccount" => uses.extend((spec["serviceAccountName"] == name).then_some(PodUse::Other)),
        _ => {
            let claims = |volume: &Value| volume["persistentVolumeClaim"]["claimName"] == name;
            uses.extend(items(&spec["volumes"]).any(claims).then_some(PodUse::Other));
        }
    }
    uses
}

/// Returns how volumes made from a source are mounted; a volume that no container mounts counts as files.
fn files(spec: &Value, is_it: impl Fn(&Value) -> bool) -> BTreeSet<PodUse> {
    let mut uses = BTreeSet::new();
    for volume in items(&spec["volumes"]) {
        if !(is_it(volume) || items(&volume["projected"]["sources"]).any(&is_it)) {
            continue;
        }
        let mounts: Vec<&Value> = containers(spec)
            .flat_map(|container| items(&container["volumeMounts"]))
            .filter(|mount| mount["name"] == volume["name"])
            .collect();
        let is_fixed = |mount: &&Value| mount["subPath"].is_string() || mount["subPathExpr"].is_string();
        if mounts.is_empty() || !mounts.iter().all(is_fixed) {
            uses.insert(PodUse::Files);
        }
        if mounts.iter().any(is_fixed) {
            uses.insert(PodUse::FixedFiles);
        }
    }
    uses
}

/// Storage drivers name their credentials in fields of several names.
fn is_credential(volume: &Value, name: &str) -> bool {
    let named = |source: &Value| {
        source["secretRef"]["name"] == name
            || source["nodePublishSecretRef"]["name"] == name
            || source["secretName"] == name
    };
    volume.as_object().into_iter().flatten().any(|(key, source)| key != "secret" && named(source))
}

/// Says whether the environment of a container is taken from an object, wholly or by single keys.
fn environment(spec: &Value, whole: &str, key: &str, name: &str) -> Option<PodUse> {
    let mut sources = containers(spec).flat_map(|container| {
        items(&container["envFrom"]).chain(items(&container["env"]).map(|variable| &variable["valueFrom"]))
    });
    sources
        .any(|source| source[whole]["name"] == name || source[key]["name"] == name)
        .then_some(PodUse::Environment)
}

fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["containers", "initContainers", "ephemeralContainers"].into_iter().map(|field| &spec[field]);
    lists.flat_map(items)
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

    #[test]
    fn how_an_object_is_taken_in_decides_when_a_change_is_noticed() {
        let check = |spec: Value, want: &[PodUse]| {
            let got: Vec<PodUse> = uses_of(&spec, &reference("ConfigMap", "shop")).into_iter().collect();
            assert_eq!(got, want, "{spec}");
        };
        let mounted = |mounts: Value| {
            json!({"volumes": [{"name": "v", "configMap": {"name": "a"}}, {"name": "w", "emptyDir": {}}],
                "containers": [{"volumeMounts": mounts}]})
        };
        check(mounted(json!([])), &[PodUse::Files]);
        check(mounted(json!([{"name": "v"}, {"name": "w", "subPath": "x"}])), &[PodUse::Files]);
        check(mounted(json!([{"name": "v", "subPath": "x"}])), &[PodUse::FixedFiles]);
        check(
            mounted(json!([{"name": "v", "subPathExpr": "x"}, {"name": "v"}])),
            &[PodUse::Files, PodUse::FixedFiles],
        );
        let mut both = mounted(json!([{"name": "v"}]));
        both["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": "a"}}]);
        check(both, &[PodUse::Environment, PodUse::Files]);
        check(json!({}), &[]);
    }
}
