//! Which fields an apply of an object would own (structured-merge-diff, `typed/tofieldset.go`).

use serde_json::{Map, Value, json};

use super::place::{Items, Place};

/// Fields of `metadata` that nobody owns (apimachinery, `managedfields/internal/stripmeta.go`).
const UNOWNED: [&str; 8] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "selfLink",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Returns what of an object can be owned; `status` only where it is no subresource.
pub(super) fn ownable(body: &Value, with_status: bool) -> Map<String, Value> {
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.retain(|key, _| match key.as_str() {
        "apiVersion" | "kind" => false,
        "status" => with_status,
        _ => true,
    });
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| !UNOWNED.contains(&key.as_str()));
        if metadata.is_empty() {
            body.remove("metadata");
        }
    }
    body
}

/// Returns the `fieldsV1` tree of a map's fields.
pub(super) fn tree(place: &Place<'_>, map: &Map<String, Value>, built_in: bool) -> Value {
    let fields =
        map.iter().map(|(name, value)| (format!("f:{name}"), node(&place.field(name), value, built_in)));
    Value::Object(fields.collect())
}

fn node(place: &Place<'_>, value: &Value, built_in: bool) -> Value {
    match value {
        Value::Object(map) if !map.is_empty() && !place.is_whole() => tree(place, map, built_in),
        Value::Array(list) if !list.is_empty() => match place.items(list, built_in) {
            Items::Whole => json!({}),
            items => {
                let item = |item| {
                    let key = place.key_of(item, &items);
                    let mut below = node(&place.item(&key), item, built_in);
                    if let Some(below) = below.as_object_mut().filter(|_| items != Items::Set) {
                        below.insert(".".to_owned(), json!({}));
                    }
                    (key, below)
                };
                Value::Object(list.iter().map(item).collect())
            }
        },
        _ => json!({}),
    }
}
