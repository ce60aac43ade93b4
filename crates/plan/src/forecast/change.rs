//! What follows from changing an object.

use windlass_model::{
    DestroyedVolume, FieldChange, Forecast, GroupKind, Object, claim_templates, is_custom_kind,
    quantity_bytes,
};

use super::{count, note, ordinals, restart, rolls, text};
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

fn scaled_down(before: &Object, after: &Object) -> Vec<Forecast> {
    let (was, will) = (count(before, "/spec/replicas", 1), count(after, "/spec/replicas", 1));
    if will >= was {
        return Vec::new();
    }
    let gone = usize::try_from(was - will).unwrap_or(usize::MAX);
    let text_of = format!("pods are removed: {}", ordinals(after, "", (will..was).rev()));
    let mut forecasts =
        vec![Forecast::Cascade { text: text_of, pods: gone, claims: 0, volumes: 0, bytes: 0 }];
    if text(after, WHEN_SCALED) == Some("Delete") {
        for template in claim_templates(after) {
            let claims = ordinals(after, &format!("{template}-"), (will..was).rev());
            let each = requested(after, template).unwrap_or_default();
            forecasts.push(Forecast::Cascade {
                text: format!("claims are deleted with their pods (whenScaled Delete): {claims}"),
                pods: 0,
                claims: gone,
                volumes: gone,
                bytes: each.saturating_mul(was - will),
            });
        }
    }
    forecasts
}

/// How many claims are named; nobody scales down by more.
const MANY: u64 = 1000;

/// Returns the volumes of the claims that scaling a StatefulSet down deletes, by the names that the claims have. `None` if
/// there are too many to name.
pub(crate) fn scaled_away(before: &Object, after: &Object) -> Option<Vec<DestroyedVolume>> {
    let (was, will) = (count(before, "/spec/replicas", 1), count(after, "/spec/replicas", 1));
    let deletes = text(after, WHEN_SCALED) == Some("Delete");
    if !deletes || will >= was || !kinds::is_stateful_set(&after.reference().kind) {
        return Some(Vec::new());
    }
    let start = count(after, "/spec/ordinals/start", 0);
    let set = after.reference();
    let claim = |template: &str, ordinal: u64| DestroyedVolume {
        namespace: set.namespace.clone().unwrap_or_default(),
        claim: format!("{template}-{}-{}", set.name, start + ordinal),
        name: String::new(),
    };
    let of_template =
        |template: &&str| (will..was).map(|ordinal| claim(template, ordinal)).collect::<Vec<_>>();
    (was - will <= MANY).then(|| claim_templates(after).iter().flat_map(of_template).collect())
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
