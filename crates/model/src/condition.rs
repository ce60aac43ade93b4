//! Conditions in an object's status.

use serde_json::Value;

/// Returns a condition of an object's status, by its type.
pub fn condition<'a>(body: &'a Value, name: &str) -> Option<&'a Value> {
    let conditions = body.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().find(|condition| condition["type"] == name)
}

/// Says whether a condition is there and has this status.
pub fn condition_is(body: &Value, name: &str, status: &str) -> bool {
    condition(body, name).is_some_and(|condition| condition["status"] == status)
}
