//! Secrets are masked where they enter a plan, not where they are printed.

use serde_json::Value;

use crate::GroupKind;

/// Stands for a value that is never shown.
pub const MASK: &str = "***";

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Says whether objects of this kind hold values that must not be shown.
pub fn is_secret_kind(kind: &GroupKind) -> bool {
    kind.is("", "Secret")
}

/// Returns the object as it may be shown: Secret values masked, the copy that client-side apply leaves in
/// an annotation dropped (it repeats a Secret in plain text: kubectl issue 1453).
pub fn mask_object(kind: &GroupKind, body: &Value) -> Value {
    let mut shown = body.clone();
    if let Some(annotations) = shown.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    if is_secret_kind(kind) {
        for field in ["data", "stringData"] {
            if let Some(map) = shown.get_mut(field).and_then(Value::as_object_mut) {
                map.values_mut().for_each(|value| *value = Value::from(MASK));
            } else if shown.get(field).is_some() {
                shown[field] = Value::from(MASK);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_value_survives() {
        let kind = GroupKind::new("", "Secret");
        let body = json!({
            "metadata": {"name": "a", "annotations": {LAST_APPLIED: "{\"data\":\"hunter2\"}", "keep": "yes"}},
            "data": {"k": "aHVudGVyMg=="}, "stringData": "hunter2",
        });
        let want = json!({
            "metadata": {"name": "a", "annotations": {"keep": "yes"}}, "data": {"k": MASK}, "stringData": MASK,
        });
        assert_eq!(mask_object(&kind, &body), want);
    }

    #[test]
    fn a_config_map_is_shown() {
        let body = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
        assert_eq!(mask_object(&GroupKind::new("", "ConfigMap"), &body), body);
    }
}
