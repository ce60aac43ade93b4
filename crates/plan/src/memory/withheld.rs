//! Keeping Secret values out of fingerprints: a short one could be guessed from them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use windlass_model::{MASK, Object, is_secret_kind};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns a desired object with every Secret value replaced by a mask, if each is what the live object holds.
///
/// The live object's version stands for its values, so nothing is lost. A value that differs, or is written in another
/// way, would change something: then there is no answer to remember, and `None` is returned.
pub(crate) fn without_values(desired: &Object, live: &Object) -> Option<Object> {
    if !is_secret_kind(&desired.reference().kind) {
        return Some(desired.clone());
    }
    if desired.annotation(LAST_APPLIED).is_some() {
        return None;
    }
    let stored = live.body().get("data").and_then(Value::as_object);
    let mut body = desired.body().clone();
    mask(&mut body, "data", |key, value| stored_value(stored, key) == value.as_str())?;
    mask(&mut body, "stringData", |key, value| {
        let encoded = value.as_str().map(|text| STANDARD.encode(text));
        encoded.is_some() && stored_value(stored, key) == encoded.as_deref()
    })?;
    Some(desired.with_body(body))
}

fn stored_value<'a>(stored: Option<&'a Map<String, Value>>, key: &str) -> Option<&'a str> {
    stored?.get(key)?.as_str()
}

fn mask(body: &mut Value, field: &str, is_stored: impl Fn(&str, &Value) -> bool) -> Option<()> {
    let values = match body.get_mut(field) {
        None | Some(Value::Null) => return Some(()),
        Some(values) => values.as_object_mut()?,
    };
    for (key, value) in values {
        if !value.is_string() || !is_stored(key, value) {
            return None;
        }
        *value = Value::from(MASK);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(fields: &Value) -> Object {
        let mut body =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"}});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Object::new(body, None).unwrap()
    }

    #[test]
    fn stored_values_are_masked_and_others_are_asked_about() {
        let live = secret(&json!({"data": {"k": "aHVudGVyMg==", "other": "eA=="}}));
        let check = |fields: Value, want: bool| {
            let masked = without_values(&secret(&fields), &live);
            assert_eq!(masked.is_some(), want, "{fields}");
            let text = masked.map(|masked| masked.body().to_string()).unwrap_or_default();
            assert!(!text.contains("aHVudGVyMg") && !text.contains("hunter2"), "{text}");
        };
        check(json!({"data": {"k": "aHVudGVyMg=="}}), true);
        check(json!({"stringData": {"k": "hunter2"}}), true);
        check(json!({"type": "Opaque"}), true);
        check(json!({"data": null}), true);
        check(json!({"data": {"k": "aHVudGVyMw=="}}), false);
        check(json!({"stringData": {"k": "hunter3"}}), false);
        check(json!({"data": {"new": "aHVudGVyMg=="}}), false);
        check(json!({"data": {"k": null}}), false);
        check(json!({"stringData": {"new": 5}}), false);
        check(json!({"data": "aHVudGVyMg=="}), false);
        let copied = json!({"name": "a", "namespace": "b", "annotations": {LAST_APPLIED: "hunter2"}});
        check(json!({"metadata": copied}), false);
    }

    #[test]
    fn other_kinds_are_taken_as_they_are() {
        let body =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
        let object = Object::new(body, None).unwrap();
        assert!(without_values(&object, &object) == Some(object));
    }
}
