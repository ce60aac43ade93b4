//! What follows from changing an object.

use std::ops::Range;

use windlass_model::{
    DestroyedVolume, FieldChange, Forecast, GroupKind, Object, claim_templates, is_custom_kind,
    quantity_bytes,
};

use super::{START, count, note, restart, rolls, run, text};
use crate::kinds;

const WHEN_SCALED: &str = "/spec/persistentVolumeClaimRetentionPolicy/whenScaled";

/// Says what follows from changing `before` into `after` by applying `desired`.
pub(crate) fn of_change(
    desired: &Object,
    before: &Object,
    after: &Object,
    delta: &[FieldChange],
) -> Vec<Forecast> {
    let kind = &after.reference().kind;
    let mut forecasts = Vec::new();
    if kinds::is_workload(kind) {
        forecasts.extend(restart::of_template(before, after, delta));
        forecasts.extend(default_replicas(desired, before, after));
    }
    if kinds::is_stateful_set(kind) {
        forecasts.extend(scaled_down(before, after));
        forecasts.extend(retention(after, delta));
    }
    if is_custom_kind(kind) {
        forecasts.extend(
            rolls::of_change(before, after, delta).unwrap_or_else(|| of_unknown_operator(kind, delta)),
        );
    }
    forecasts
}

fn of_unknown_operator(kind: &GroupKind, delta: &[FieldChange]) -> Vec<Forecast> {
    if !delta.iter().any(|change| change.path.starts_with(&["spec"])) {
        return Vec::new();
    }
    let why = format!("possibly: the operator of `{kind}` decides which pods a changed spec restarts");
    vec![Forecast::Restart { why, pods: None }]
}

/// A field that is not declared any more falls back to its default: to one pod (kubernetes website issue 29739).
fn default_replicas(desired: &Object, before: &Object, after: &Object) -> Option<Forecast> {
    let (was, will) = (count(before, "/spec/replicas", 1), count(after, "/spec/replicas", 1));
    let declared = desired.body().pointer("/spec/replicas").is_some();
    (was != will && !declared && after.reference().kind.kind != "DaemonSet").then(|| {
        note(format!(
            "spec.replicas is not declared any more and falls from {was} to its default, {will}; to hand it over, let the other manager write it first"
        ))
    })
}

/// The ordinals of the pods of a StatefulSet.
fn pods_of(set: &Object) -> Range<u64> {
    let start = count(set, START, 0);
    start..start.saturating_add(count(set, "/spec/replicas", 1))
}

/// Returns the ordinals of the pods that go: those above what stays, and those below it. The controller removes every pod
/// outside of the new ordinals, also where only their start moves (`podInOrdinalRange`, stateful_set_utils.go).
fn leaving(before: &Object, after: &Object) -> [Range<u64>; 2] {
    let (was, will) = (pods_of(before), pods_of(after));
    let above = was.start.max(will.end)..was.end;
    let below = was.start..was.end.min(will.start);
    [above, below].map(|range| if range.is_empty() { 0..0 } else { range })
}

fn length(ranges: &[Range<u64>; 2]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

fn scaled_down(before: &Object, after: &Object) -> Vec<Forecast> {
    let leaving = leaving(before, after);
    let many = length(&leaving);
    if many == 0 {
        return Vec::new();
    }
    let named = |prefix: &str| {
        let runs = leaving.iter().filter(|range| !range.is_empty());
        runs.map(|range| run(after, prefix, range.clone().rev())).collect::<Vec<_>>().join(", ")
    };
    let gone = usize::try_from(many).unwrap_or(usize::MAX);
    let text_of = format!("pods are removed: {}", named(""));
    let mut forecasts =
        vec![Forecast::Cascade { text: text_of, pods: gone, claims: 0, volumes: 0, bytes: 0 }];
    if text(after, WHEN_SCALED) == Some("Delete") {
        for template in claim_templates(after) {
            let claims = named(&format!("{template}-"));
            let each = requested(after, template).unwrap_or_default();
            forecasts.push(Forecast::Cascade {
                text: format!("claims are deleted with their pods (whenScaled Delete): {claims}"),
                pods: 0,
                claims: gone,
                volumes: gone,
                bytes: each.saturating_mul(many),
            });
        }
    }
    forecasts
}

/// How many claims are named; nobody scales down by more.
const MANY: u64 = 1000;

/// Returns the volumes of the claims that scaling a StatefulSet down, or moving its ordinals, deletes, by the names that
/// the claims have. `None` if there are too many to name.
pub(crate) fn scaled_away(before: &Object, after: &Object) -> Option<Vec<DestroyedVolume>> {
    let deletes = text(after, WHEN_SCALED) == Some("Delete");
    if !deletes || !kinds::is_stateful_set(&after.reference().kind) {
        return Some(Vec::new());
    }
    let leaving = leaving(before, after);
    if length(&leaving) > MANY {
        return None;
    }
    let set = after.reference();
    let claim = |template: &str, ordinal: u64| DestroyedVolume {
        namespace: set.namespace.clone().unwrap_or_default(),
        claim: format!("{template}-{}-{ordinal}", set.name),
        name: String::new(),
    };
    let ordinals = || leaving.iter().cloned().flatten();
    let of_template =
        |template: &&str| ordinals().map(|ordinal| claim(template, ordinal)).collect::<Vec<_>>();
    Some(claim_templates(after).iter().flat_map(of_template).collect())
}

/// Returns how many bytes a claim template of a StatefulSet asks for.
fn requested(set: &Object, name: &str) -> Option<u64> {
    let templates = set.body().pointer("/spec/volumeClaimTemplates")?.as_array()?;
    let template =
        templates.iter().find(|template| template.pointer("/metadata/name") == Some(&name.into()))?;
    quantity_bytes(template.pointer("/spec/resources/requests/storage")?.as_str()?)
}

/// Nothing is lost at once, but the next deletion or scaling decides over data by the new rule.
fn retention(after: &Object, delta: &[FieldChange]) -> Option<Forecast> {
    const POLICY: &str = "persistentVolumeClaimRetentionPolicy";
    let changes = delta.iter().any(|change| change.path.starts_with(&["spec", POLICY]));
    let rule = |field: &str| text(after, &format!("/spec/{POLICY}/{field}")).unwrap_or("Retain").to_owned();
    changes.then(|| {
        note(format!(
            "from now on claims are kept or deleted by another rule: whenDeleted {}, whenScaled {}",
            rule("whenDeleted"),
            rule("whenScaled")
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_model::delta;

    use super::*;

    fn set(spec: &Value) -> Object {
        let body =
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    fn check(desired: &Value, before: &Value, after: &Value, want: &[&str]) {
        let (desired, before, after) = (set(desired), set(before), set(after));
        let changes = delta(&after.reference().kind, before.body(), after.body());
        let got = format!("{:?}", of_change(&desired, &before, &after, &changes));
        for want in want {
            assert!(got.contains(want), "{got} lacks {want}");
        }
        assert!(!want.is_empty() || got == "[]", "{got}");
    }

    #[test]
    fn scaling_down_may_delete_claims() {
        let spec = |replicas: u64, policy: &str| {
            json!({"replicas": replicas, "persistentVolumeClaimRetentionPolicy": {"whenScaled": policy},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Ki"}}}}]})
        };
        check(
            &spec(1, "Delete"),
            &spec(3, "Delete"),
            &spec(1, "Delete"),
            &[
                "pods are removed: db-2, db-1\", pods: 2",
                "data-db-2, data-db-1\", pods: 0, claims: 2, volumes: 2, bytes: 2048",
            ],
        );
        check(&spec(1, "Retain"), &spec(3, "Retain"), &spec(1, "Retain"), &["pods are removed: db-2, db-1"]);
        check(&spec(3, "Delete"), &spec(1, "Delete"), &spec(3, "Delete"), &[]);
    }

    /// Only the numbers of replicas were compared: moving the start destroyed all data of a set without a word.
    #[test]
    fn moving_the_ordinals_removes_pods_and_claims_too() {
        let spec = |start: u64, replicas: u64| {
            json!({"replicas": replicas, "ordinals": {"start": start},
                "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}}]})
        };
        let check = |from: (u64, u64), to: (u64, u64), pods: &[&str]| {
            let (before, after) = (set(&spec(from.0, from.1)), set(&spec(to.0, to.1)));
            let told = format!("{:?}", scaled_down(&before, &after));
            let gone: Vec<String> =
                scaled_away(&before, &after).unwrap().into_iter().map(|volume| volume.claim).collect();
            assert_eq!(gone, pods.iter().map(|pod| format!("data-{pod}")).collect::<Vec<_>>());
            for pod in pods {
                assert!(told.contains(&format!(" {pod}")) && told.contains(&format!("data-{pod}")), "{told}");
            }
            assert!(!pods.is_empty() || told == "[]", "{told}");
        };
        check((0, 3), (3, 3), &["db-0", "db-1", "db-2"]);
        check((0, 5), (1, 3), &["db-4", "db-0"]);
        check((3, 3), (0, 3), &["db-3", "db-4", "db-5"]);
        check((2, 3), (2, 0), &["db-2", "db-3", "db-4"]);
        check((1, 3), (0, 5), &[]);
        check((2, 3), (2, 3), &[]);
    }

    #[test]
    fn a_changed_retention_policy_is_named() {
        let spec = |rule: &str| json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": rule}});
        let want = ["whenDeleted Delete, whenScaled Retain"];
        check(&spec("Delete"), &spec("Retain"), &spec("Delete"), &want);
    }

    #[test]
    fn dropped_replicas_fall_back_to_the_default() {
        check(
            &json!({}),
            &json!({"replicas": 3}),
            &json!({"replicas": 1}),
            &["falls from 3 to its default, 1"],
        );
    }
}
