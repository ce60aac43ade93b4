//! Reading fields of objects.

use serde_json::Value;
use windlass_model::Object;

/// Returns a text, empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a number, 0 if there is none: the API leaves zeros out.
pub(crate) fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// Returns a list, empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns a condition of an object's status.
pub(crate) fn condition<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    windlass_model::condition(object.body(), name)
}

/// Says whether a condition has this status.
pub(crate) fn condition_is(object: &Object, name: &str, status: &str) -> bool {
    windlass_model::condition_is(object.body(), name, status)
}

/// Returns a condition's reason and message in one line.
pub(crate) fn wording(condition: &Value) -> String {
    match (text(condition, "/reason"), text(condition, "/message")) {
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

/// Returns the uid of the object that controls this one.
pub(crate) fn controller(object: &Object) -> Option<&str> {
    list(object.body(), "/metadata/ownerReferences")
        .iter()
        .find(|owner| owner["controller"] == true)
        .and_then(|owner| owner["uid"].as_str())
}
