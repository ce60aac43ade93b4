//! What `metadata.managedFields` says about who owns what.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_cluster::FIELD_MANAGER;
use windlass_model::{Conflict, Object, apply_entry};

/// Managers by which people change objects by hand, or which stand for "whoever it was". What they own is
/// taken over, visibly. Every other manager is a controller that would write again and again.
///
/// `before-first-apply` is what the server invents for objects older than managed fields, `Mozilla` what it
/// calls a browser, and `windlass` owns fields by `Update` where an earlier write was no apply.
const BY_HAND: [&str; 4] = ["before-first-apply", "helm", "Mozilla", FIELD_MANAGER];

/// Says whether a manager is a person's tool.
pub(crate) fn is_by_hand(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-") || BY_HAND.contains(&manager)
}

/// Returns what the apply entry of `windlass` says: the version it was written in and its fields.
pub(crate) fn applied(object: &Object) -> Option<(&Value, &Value)> {
    apply_entry(object, FIELD_MANAGER).map(|entry| (&entry["apiVersion"], &entry["fieldsV1"]))
}

/// Says whether a conflict is over what a manager wrote through the subresource `scale`.
pub(crate) fn is_scale(object: &Object, conflict: &Conflict) -> bool {
    conflict.field == "spec.replicas"
        && entries(object)
            .any(|entry| entry["manager"] == conflict.manager.as_str() && entry["subresource"] == "scale")
}

/// Returns the conflict with the time of its manager's last write, which the server's words leave out.
pub(crate) fn dated(object: &Object, conflict: &Conflict) -> Conflict {
    let written = |entry: &&Value| entry["manager"] == conflict.manager.as_str();
    let last = || entries(object).filter(written).filter_map(|entry| entry["time"].as_str()).max();
    let since = conflict.since.clone().or_else(|| last().map(str::to_owned));
    Conflict { since, ..conflict.clone() }
}

/// Returns the fields that stay although the manifest does not declare them, because a person's tool owns
/// them besides nobody else: `data.b (kubectl-client-side-apply)` (kubectl issue 1796).
pub(crate) fn left_behind(answer: &Object) -> Vec<String> {
    let mut ours = BTreeSet::new();
    if let Some((_, fields)) = applied(answer) {
        leaves("", fields, &mut ours);
    }
    let mut left = BTreeSet::new();
    let is_ours = |entry: &Value| entry["manager"] == FIELD_MANAGER && entry["operation"] == "Apply";
    for entry in entries(answer).filter(|entry| is_main(entry) && !is_ours(entry)) {
        let manager = entry["manager"].as_str().unwrap_or_default();
        // The invented entry owns every default too: it tells nothing about what someone wanted.
        if !is_by_hand(manager) || manager == "before-first-apply" {
            continue;
        }
        let mut theirs = BTreeSet::new();
        leaves("", &entry["fieldsV1"], &mut theirs);
        left.extend(theirs.difference(&ours).map(|path| format!("{path} ({manager})")));
    }
    left.into_iter().collect()
}

fn entries(object: &Object) -> impl Iterator<Item = &Value> {
    object.body().pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten()
}

fn is_main(entry: &Value) -> bool {
    entry["subresource"].as_str().unwrap_or_default().is_empty()
}

/// Collects the leaves of a `fieldsV1` tree as readable paths.
fn leaves(path: &str, fields: &Value, out: &mut BTreeSet<String>) {
    let children = fields.as_object().into_iter().flatten().filter(|(key, _)| *key != ".");
    let mut any = false;
    for (key, below) in children {
        any = true;
        leaves(&step(path, key), below, out);
    }
    if !any && !path.is_empty() && !is_server_kept(path) {
        out.insert(path.to_owned());
    }
}

fn step(path: &str, key: &str) -> String {
    match key.split_once(':') {
        Some(("f", name)) if path.is_empty() => name.to_owned(),
        Some(("f", name)) if name.contains(['.', '/']) => format!("{path}[\"{name}\"]"),
        Some(("f", name)) => format!("{path}.{name}"),
        Some((_, item)) => format!("{path}[{item}]"),
        None => format!("{path}[{key}]"),
    }
}

fn is_server_kept(path: &str) -> bool {
    path == "status" || path.starts_with("status.") || path.contains("kubectl.kubernetes.io/last-applied")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(managed: &Value) -> Object {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "b", "managedFields": managed}});
        Object::new(body, None).unwrap()
    }

    #[test]
    fn fields_of_client_side_apply_stay_when_the_manifest_drops_them() {
        let theirs = json!({"f:data": {".": {}, "f:a": {}, "f:b.c": {}}, "f:metadata": {"f:annotations": {
            "f:kubectl.kubernetes.io/last-applied-configuration": {}}}});
        let ours = json!({"f:data": {"f:a": {}}});
        let answer = object(&json!([
            {"manager": "windlass", "operation": "Apply", "fieldsV1": ours},
            {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": theirs},
            {"manager": "some-operator", "operation": "Update", "fieldsV1": {"f:data": {"f:d": {}}}},
        ]));
        assert_eq!(left_behind(&answer), ["data[\"b.c\"] (kubectl-client-side-apply)"]);
    }

    #[test]
    fn people_are_told_from_controllers() {
        for (manager, want) in [
            ("kubectl", true),
            ("kubectl-edit", true),
            ("kubectl-client-side-apply", true),
            ("helm", true),
            ("before-first-apply", true),
            ("kubectlx", false),
            ("helm-controller", false),
            ("kube-controller-manager", false),
            ("keda-operator", false),
        ] {
            assert_eq!(is_by_hand(manager), want, "{manager}");
        }
    }
}
