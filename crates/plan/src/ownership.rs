//! What `metadata.managedFields` says about who owns what.

use std::collections::BTreeSet;

use jiff::Timestamp;
use windlass_cluster::FIELD_MANAGER;
use windlass_model::{BEFORE_FIRST_APPLY, Conflict, FieldPath, ManagedEntry, Object, age, apply_entry};

/// Managers by which people change objects by hand, or which stand for "whoever it was". What they own is
/// taken over, visibly. Every other manager is a controller that would write again and again.
///
/// `before-first-apply` is what the server invents for objects older than managed fields, `Mozilla` what it
/// calls a browser, and `windlass` owns fields by `Update` where an earlier write was no apply.
const BY_HAND: [&str; 4] = [BEFORE_FIRST_APPLY, "helm", "Mozilla", FIELD_MANAGER];

/// Says whether a manager is a person's tool.
pub(crate) fn is_by_hand(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-") || BY_HAND.contains(&manager)
}

/// Returns what `windlass` has applied of an object.
pub(crate) fn applied(object: &Object) -> Option<ManagedEntry<'_>> {
    apply_entry(object, FIELD_MANAGER)
}

/// Adds when the manager last wrote, and how long before `now` that was. An entry that lost a field to another manager has
/// no time any more; then another entry of the manager tells, unless that is about another subresource.
pub(crate) fn dated(live: &Object, conflict: Conflict, now: Timestamp) -> Conflict {
    let subresource = conflict.subresource.as_deref().unwrap_or_default();
    let is_its =
        |entry: &ManagedEntry<'_>| entry.manager() == conflict.manager && entry.subresource() == subresource;
    let recorded = || ManagedEntry::all(live).filter(is_its).filter_map(ManagedEntry::time).max();
    let last_write = conflict.last_write.clone().or_else(|| recorded().map(str::to_owned));
    let last_write_age = last_write.as_ref().and_then(|time| age(time, now));
    Conflict { last_write, last_write_age, ..conflict }
}

/// Returns the fields that stay although the manifest does not declare them, because a person's tool owns
/// them besides nobody else: `data.b (kubectl-client-side-apply)` (kubectl issue 1796).
pub(crate) fn left_behind(answer: &Object) -> Vec<String> {
    let is_ours = |entry: &ManagedEntry<'_>| entry.is_apply_of(FIELD_MANAGER);
    // The invented entry owns every default too: it tells nothing about what someone wanted.
    let counts = |entry: &ManagedEntry<'_>| {
        is_by_hand(entry.manager()) && entry.manager() != BEFORE_FIRST_APPLY && entry.subresource().is_empty()
    };
    let theirs: Vec<ManagedEntry<'_>> =
        ManagedEntry::all(answer).filter(|entry| !is_ours(entry) && counts(entry)).collect();
    if theirs.is_empty() {
        return Vec::new();
    }
    let ours = ManagedEntry::all(answer).find(is_ours).map(ManagedEntry::fields).unwrap_or_default();
    let ours: BTreeSet<FieldPath> = ours.paths().collect();
    let mut left = BTreeSet::new();
    for entry in theirs {
        let fields = entry.fields();
        let told = fields.leaves().filter(|path| !ours.contains(path)).map(|path| path.to_string());
        let told = told.filter(|path| !is_server_kept(path));
        left.extend(told.map(|path| format!("{path} ({})", entry.manager())));
    }
    left.into_iter().collect()
}

/// Returns the fields of a live object that other managers own and the manifest does not declare, each with its manager.
/// The server's own bookkeeping is left out.
pub(crate) fn of_others(live: &Object, desired: &Object) -> BTreeSet<(String, String)> {
    let others = ManagedEntry::all(live)
        .filter(|entry| !entry.is_apply_of(FIELD_MANAGER) && entry.subresource().is_empty());
    let mut found = BTreeSet::new();
    for entry in others {
        let fields = entry.fields();
        let undeclared = fields.difference(&fields.within(desired.body()));
        let paths = undeclared.leaves().map(|path| path.to_string()).filter(|path| !is_server_kept(path));
        found.extend(paths.map(|path| (path, entry.manager().to_owned())));
    }
    found
}

fn is_server_kept(path: &str) -> bool {
    path == "status" || path.starts_with("status.") || path.contains("kubectl.kubernetes.io/last-applied")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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

    /// A time of the status told that an autoscaler had just written, whenever it had scaled.
    #[test]
    fn a_subresource_has_a_time_of_its_own_or_none() {
        let entry = |subresource: &str, time: Option<&str>| {
            json!({"manager": "kube-controller-manager", "operation": "Update", "subresource": subresource,
                "time": time, "fieldsV1": {}})
        };
        let live = object(&json!([entry("scale", None), entry("status", Some("2026-06-15T11:00:00Z"))]));
        let now = "2026-06-15T12:00:00Z".parse().unwrap();
        for (subresource, want) in [("scale", None), ("status", Some("1 hour"))] {
            let conflict = Conflict {
                manager: "kube-controller-manager".to_owned(),
                subresource: Some(subresource.to_owned()),
                ..Conflict::default()
            };
            assert_eq!(dated(&live, conflict, now).last_write_age.as_deref(), want, "{subresource}");
        }
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
