//! The pod that a controller would make from a workload's template.

use serde_json::{Map, Value, json};
use windlass_model::Object;

use crate::{kinds, template};

/// What stands for the hash that a controller appends, and for the random end of a generated name.
const HASH: &str = "preview";
const RANDOM: &str = "wndls";

/// The longest prefix of a generated name (`k8s.io/apiserver/pkg/storage/names`).
const PREFIX: usize = 58;

/// Makes the pod, as far as admission can tell it from a real one: the template's metadata and `spec`, the labels and
/// the controller reference that the workload's controller adds, and a StatefulSet's claims as volumes. `None` for
/// kinds without a template.
///
/// `blockOwnerDeletion` is left out: some clusters ask for a right on the owner's finalizers before they take it.
pub(crate) fn pod_of(workload: &Object) -> Option<Object> {
    let template = template::of(workload)?;
    let reference = workload.reference();
    let maker = maker(workload);
    let mut spec = template["spec"].clone();
    let mut metadata = Map::new();
    metadata.insert("namespace".into(), json!(reference.namespace));
    metadata.insert("name".into(), maker.pod_name.clone().into());
    metadata.insert("generateName".into(), maker.prefix.into());
    let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.extend(maker.labels);
    metadata.insert("labels".into(), labels.into());
    if let Some(annotations) = template["metadata"].get("annotations") {
        metadata.insert("annotations".into(), annotations.clone());
    }
    let owner = json!({"apiVersion": maker.api_version, "kind": maker.kind, "name": maker.name,
        "uid": workload.uid().unwrap_or("00000000-0000-0000-0000-000000000000"), "controller": true});
    metadata.insert("ownerReferences".into(), json!([owner]));
    if kinds::is_stateful_set(&reference.kind) {
        give_identity(&mut spec, workload, &maker.pod_name);
    }
    let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    Object::new(body, None).ok()
}

/// Returns the pod without an object that it names and that does not exist; `None` if it does not name it.
pub(crate) fn without(pod: &Object, kind: &str, name: &str) -> Option<Object> {
    let fields = fields_of(kind);
    let mut body = pod.body().clone();
    let spec = body["spec"].as_object_mut()?;
    if !fields.iter().any(|field| spec.get(*field).is_some_and(|named| named == name)) {
        return None;
    }
    for field in fields {
        spec.remove(*field);
    }
    Some(pod.with_body(body))
}

/// Returns the fields of a pod that name an object of a kind.
fn fields_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "ServiceAccount" => &["serviceAccountName", "serviceAccount"],
        "PriorityClass" => &["priorityClassName"],
        "RuntimeClass" => &["runtimeClassName"],
        _ => &[],
    }
}

/// Says whether a policy looks at what an object of a kind, or its name, makes of a pod.
pub(crate) fn looks_at(policy: &Object, kind: &str) -> bool {
    let words: &[&str] = match kind {
        "ServiceAccount" => &["serviceAccount", "imagePullSecrets", "volumes"],
        "PriorityClass" => &["priority", "preemptionPolicy"],
        _ => &["runtimeClass", "overhead", "nodeSelector", "tolerations"],
    };
    let spec = policy.body()["spec"].to_string();
    words.iter().any(|word| spec.contains(word))
}

/// The controller that makes the pod, and what it adds.
struct Maker {
    api_version: String,
    kind: String,
    name: String,
    prefix: String,
    pod_name: String,
    labels: Vec<(String, Value)>,
}

fn maker(workload: &Object) -> Maker {
    let reference = workload.reference();
    let name = reference.name.as_str();
    let label = |key: &str, value: String| (key.to_owned(), Value::from(value));
    let made_by = |kind: &str, maker: String, labels| {
        let prefix: String = format!("{maker}-").chars().take(PREFIX).collect();
        Maker {
            api_version: reference.api_version(),
            kind: kind.to_owned(),
            pod_name: format!("{prefix}{RANDOM}"),
            name: maker,
            prefix,
            labels,
        }
    };
    match reference.kind.kind.as_str() {
        "Deployment" => {
            made_by("ReplicaSet", format!("{name}-{HASH}"), vec![label("pod-template-hash", HASH.to_owned())])
        }
        "CronJob" => {
            let job = format!("{name}-{HASH}");
            let labels =
                vec![label("batch.kubernetes.io/job-name", job.clone()), label("job-name", job.clone())];
            made_by("Job", job, labels)
        }
        "DaemonSet" => {
            made_by("DaemonSet", name.to_owned(), vec![label("controller-revision-hash", HASH.to_owned())])
        }
        "StatefulSet" => {
            let ordinal = free_ordinal(workload);
            let pod_name = format!("{name}-{ordinal}");
            let labels = vec![
                label("apps.kubernetes.io/pod-index", ordinal.to_string()),
                label("controller-revision-hash", format!("{name}-{HASH}")),
                label("statefulset.kubernetes.io/pod-name", pod_name.clone()),
            ];
            Maker { pod_name, ..made_by("StatefulSet", name.to_owned(), labels) }
        }
        kind => made_by(kind, name.to_owned(), Vec::new()),
    }
}

/// Returns the index after the last: a pod of that name hardly ever exists, so that it can be tried out.
fn free_ordinal(set: &Object) -> u64 {
    let number = |pointer: &str| set.body().pointer(pointer).and_then(Value::as_u64);
    number("/spec/ordinals/start").unwrap_or(0) + number("/spec/replicas").unwrap_or(1)
}

/// Adds what a StatefulSet's controller adds to the spec of a pod.
fn give_identity(spec: &mut Value, set: &Object, pod: &str) {
    spec["hostname"] = pod.into();
    if let Some(service) = set.body().pointer("/spec/serviceName") {
        spec["subdomain"] = service.clone();
    }
    let templates = set.body().pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let names: Vec<&str> = templates
        .into_iter()
        .flatten()
        .filter_map(|claim| claim.pointer("/metadata/name")?.as_str())
        .collect();
    let mut volumes: Vec<Value> = spec["volumes"].as_array().cloned().unwrap_or_default();
    volumes.retain(|volume| !names.iter().any(|name| volume["name"] == *name));
    volumes.extend(
        names.iter().map(
            |name| json!({"name": name, "persistentVolumeClaim": {"claimName": format!("{name}-{pod}")}}),
        ),
    );
    if !volumes.is_empty() {
        spec["volumes"] = volumes.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better with plain values")]
    fn workload(api_version: &str, kind: &str, name: &str, spec: Value) -> Object {
        let body = json!({"apiVersion": api_version, "kind": kind, "spec": spec,
            "metadata": {"name": name, "namespace": "shop", "uid": "u1"}});
        Object::new(body, None).unwrap()
    }

    fn template() -> Value {
        json!({"metadata": {"labels": {"app": "a"}, "annotations": {"k": "v"}}, "spec": {"containers": [{"name": "c"}]}})
    }

    #[test]
    fn a_pod_carries_what_its_controller_adds() {
        let pod = pod_of(&workload("apps/v1", "Deployment", "web", json!({"template": template()}))).unwrap();
        assert_eq!(pod.reference().to_string(), "Pod shop/web-preview-wndls");
        assert_eq!(pod.label("app"), Some("a"));
        assert_eq!(pod.label("pod-template-hash"), Some("preview"));
        assert_eq!(pod.annotation("k"), Some("v"));
        let owner = &pod.body()["metadata"]["ownerReferences"][0];
        assert_eq!((&owner["kind"], &owner["name"]), (&"ReplicaSet".into(), &"web-preview".into()));
        assert_eq!(pod.body()["spec"]["containers"][0]["name"], "c");
        let spec = json!({"jobTemplate": {"spec": {"template": template()}}});
        let pod = pod_of(&workload("batch/v1", "CronJob", "tidy", spec)).unwrap();
        assert_eq!(pod.body()["metadata"]["ownerReferences"][0]["kind"], "Job");
        assert_eq!(pod_of(&workload("v1", "ConfigMap", "a", json!({}))), None);
    }

    #[test]
    fn a_stateful_sets_pod_mounts_its_claims() {
        let mut template = template();
        template["spec"]["volumes"] =
            json!([{"name": "conf", "configMap": {"name": "c"}}, {"name": "data", "emptyDir": {}}]);
        let spec = json!({"replicas": 3, "serviceName": "db-svc", "template": template,
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
        let pod = pod_of(&workload("apps/v1", "StatefulSet", "db", spec)).unwrap();
        assert_eq!(pod.reference().name, "db-3");
        assert_eq!(pod.body()["spec"]["subdomain"], "db-svc");
        let volumes = json!([{"name": "conf", "configMap": {"name": "c"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-3"}}]);
        assert_eq!(pod.body()["spec"]["volumes"], volumes);
    }

    #[test]
    fn what_does_not_exist_yet_is_left_out_once() {
        let spec = json!({"serviceAccountName": "web", "serviceAccount": "web", "priorityClassName": "high", "containers": []});
        let pod = workload("v1", "Pod", "web", spec);
        let rest = without(&pod, "ServiceAccount", "web").unwrap();
        assert_eq!(rest.body()["spec"], json!({"priorityClassName": "high", "containers": []}));
        assert_eq!(without(&rest, "ServiceAccount", "web"), None);
        assert_eq!(without(&pod, "ServiceAccount", "default"), None);
        let rest = without(&rest, "PriorityClass", "high").unwrap();
        assert_eq!(rest.body()["spec"], json!({"containers": []}));
    }

    #[test]
    fn long_names_are_cut_as_the_server_cuts_them() {
        let name = "n".repeat(63);
        let pod = pod_of(&workload("apps/v1", "Deployment", &name, json!({"template": template()}))).unwrap();
        assert_eq!(pod.reference().name.len(), 63);
    }
}
