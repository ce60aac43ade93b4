//! Which immutable fields a manifest changes: the server says that there are some, not which.

use serde_json::Value;
use windlass_cluster::{FIELD_MANAGER, Failure};
use windlass_model::{Emptied, FieldChange, GroupKind, ManagedEntry, Object, delta, prune_fields};

use crate::overlay::overlay;
use crate::{kinds, problem};

/// Fields of a StatefulSet's spec that may change.
const MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// Compares the manifest with the live object locally: what it declares wins, and everything else stays.
pub(crate) fn local_delta(live: &Object, desired: &Object) -> Vec<FieldChange> {
    delta(&live.reference().kind, live.body(), &overlay(live.body(), desired.body()))
}

/// Foresees what an apply of the manifest changes: what only Windlass owns goes once it is not declared any more.
pub(crate) fn foreseen_delta(live: &Object, desired: &Object) -> Vec<FieldChange> {
    delta(&live.reference().kind, live.body(), &overlay(&without_dropped(live, desired), desired.body()))
}

/// Returns the live object without what the manifest drops.
fn without_dropped(live: &Object, desired: &Object) -> Value {
    let mut body = live.body().clone();
    let (ours, theirs): (Vec<_>, Vec<_>) =
        ManagedEntry::all(live).partition(|entry| entry.is_apply_of(FIELD_MANAGER));
    let Some(owned) = ours.first().map(|entry| entry.fields()) else { return body };
    let stays = theirs.iter().fold(owned.within(desired.body()), |stays, entry| stays.union(&entry.fields()));
    // The label of the set is no part of the manifest.
    let owned = owned.filter(|path| !path.starts_with(&["metadata"]));
    prune_fields(&mut body, &owned, &stays, Emptied::Absent);
    body
}

/// Returns the changed fields that the refusal is about; the field that the server names where the comparison finds none
/// in it.
pub(crate) fn paths(kind: &GroupKind, failure: &Failure, changes: &[FieldChange]) -> Vec<String> {
    let blamed = problem::immutable_fields(failure);
    let mut paths: Vec<String> = changes
        .iter()
        .filter(|change| is_suspect(kind, change))
        .map(|change| change.path.to_string())
        .filter(|path| blamed.iter().any(|field| is_below(path, field)))
        .collect();
    let unfound: Vec<String> =
        blamed.into_iter().filter(|field| !paths.iter().any(|path| is_below(path, field))).collect();
    paths.extend(unfound);
    if paths.is_empty() {
        paths.push("a field that the server does not name".to_owned());
    }
    paths
}

fn is_suspect(kind: &GroupKind, change: &FieldChange) -> bool {
    if kinds::is_stateful_set(kind) {
        return !MUTABLE.iter().any(|field| change.path.starts_with(&["spec", field]));
    }
    !(kind.is("", "Pod") && change.path.to_string().rsplit('.').next() == Some("image"))
}

fn is_below(path: &str, field: &str) -> bool {
    // No field: the server's name for whichever sort of volume it is.
    let field = if field == "spec.persistentvolumesource" { "spec" } else { field };
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, field: &str, live: Value, desired: Value, want: &[&str]) {
        let object = |spec: Value| {
            let body =
                json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec});
            Object::new(body, None).unwrap()
        };
        let status = json!({"kind": "Status", "reason": "Invalid", "message": "x",
            "details": {"causes": [{"reason": "FieldValueForbidden", "field": field, "message": "immutable"}]}});
        let failure = Failure::parse(422, status.to_string().as_bytes(), None);
        let live = object(live);
        let kind = live.reference().kind.clone();
        assert_eq!(paths(&kind, &failure, &local_delta(&live, &object(desired))), want);
    }

    /// kubernetes issue 122246: the server says `spec`, whatever it is.
    #[test]
    fn a_changed_claim_template_is_named() {
        let template = |size: &str| json!([{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": size}}}}]);
        check(
            "StatefulSet",
            "spec",
            json!({"replicas": 1, "serviceName": "a", "volumeClaimTemplates": template("1Gi")}),
            json!({"replicas": 2, "serviceName": "a", "volumeClaimTemplates": template("2Gi")}),
            &["spec.volumeClaimTemplates[0].spec.resources.requests.storage"],
        );
    }

    #[test]
    fn where_the_comparison_finds_nothing_the_server_is_quoted() {
        check(
            "Service",
            "spec.clusterIPs[0]",
            json!({"clusterIP": "a"}),
            json!({"clusterIP": "b"}),
            &["spec.clusterIPs[0]"],
        );
        check(
            "Job",
            "spec.template",
            json!({"template": {"a": 1}}),
            json!({"template": {"a": 2}}),
            &["spec.template.a"],
        );
    }
}
