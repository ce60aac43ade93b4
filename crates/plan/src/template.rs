//! The pod templates of workloads, and whether pods are made from them.

use serde_json::Value;
use windlass_model::{GroupKind, Object};

use crate::kinds;

/// Returns the template from which a workload's pods are made, `spec` and `metadata`; `None` for other kinds.
pub(crate) fn of(workload: &Object) -> Option<&Value> {
    let pointer = pointer(&workload.reference().kind)?;
    workload.body().pointer(pointer).filter(|template| template.is_object())
}

/// Says whether objects of a kind hold a pod template.
pub(crate) fn is_in(kind: &GroupKind) -> bool {
    pointer(kind).is_some()
}

fn pointer(kind: &GroupKind) -> Option<&'static str> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => Some("/spec/template"),
        ("batch", "CronJob") => Some("/spec/jobTemplate/spec/template"),
        _ => None,
    }
}

/// Says whether a workload makes pods as things are: it is not scaled to nothing, paused or suspended.
pub(crate) fn makes_pods(workload: &Object) -> bool {
    let is = |pointer: &str, value: &Value| workload.body().pointer(pointer) == Some(value);
    let yes = Value::Bool(true);
    !is("/spec/replicas", &Value::from(0)) && !is("/spec/paused", &yes) && !is("/spec/suspend", &yes)
}

/// Says whether a workload replaces its pods by itself when its template changes.
pub(crate) fn replaces_pods(workload: &Object) -> bool {
    let at = |pointer: &str| workload.body().pointer(pointer);
    let held = kinds::is_stateful_set(&workload.reference().kind) && {
        let replicas = at("/spec/replicas").and_then(Value::as_u64).unwrap_or(1);
        let partition = at("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_u64);
        partition.is_some_and(|partition| partition >= replicas)
    };
    makes_pods(workload) && !held && at("/spec/updateStrategy/type").is_none_or(|kind| kind != "OnDelete")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workload(api_version: &str, kind: &str, spec: &Value) -> Object {
        let body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    #[test]
    fn templates_by_kind() {
        let check = |api_version: &str, kind: &str, spec: Value, want: bool| {
            assert_eq!(of(&workload(api_version, kind, &spec)).is_some(), want, "{kind}");
        };
        let direct = || json!({"template": {}});
        for kind in ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] {
            check("apps/v1", kind, direct(), true);
        }
        check("batch/v1", "Job", direct(), true);
        check("batch/v1", "CronJob", json!({"jobTemplate": {"spec": direct()}}), true);
        check("batch/v1", "CronJob", direct(), false);
        check("example.com/v1", "Deployment", direct(), false);
    }

    #[test]
    fn what_holds_pods_back() {
        let check = |kind: &str, spec: Value, makes: bool, replaces: bool| {
            let workload = workload("apps/v1", kind, &spec);
            assert_eq!((makes_pods(&workload), replaces_pods(&workload)), (makes, replaces), "{kind} {spec}");
        };
        check("Deployment", json!({}), true, true);
        check("Deployment", json!({"replicas": 0}), false, false);
        check("Deployment", json!({"paused": true}), false, false);
        check("CronJob", json!({"suspend": true}), false, false);
        check("StatefulSet", json!({"updateStrategy": {"type": "OnDelete"}}), true, false);
        let held = |partition: u64| json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": partition}}});
        check("StatefulSet", held(3), true, false);
        check("StatefulSet", held(2), true, true);
    }
}
