//! A local guess at what an apply would make of a live object, where the server does not say.

use serde_json::Value;

/// Lays the desired object over the live one: what is declared wins, what is not declared stays, and a list
/// holds exactly the declared items, each laid over the live item of the same name.
pub(crate) fn overlay(live: &Value, desired: &Value) -> Value {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            let mut merged = live.clone();
            for (key, value) in desired.iter().filter(|(_, value)| !value.is_null()) {
                let below = live.get(key).map_or_else(|| value.clone(), |live| overlay(live, value));
                merged.insert(key.clone(), below);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(desired)) => {
            let item = |(index, item): (usize, &Value)| {
                counterpart(live, desired, index, item)
                    .map_or_else(|| item.clone(), |live| overlay(live, item))
            };
            Value::Array(desired.iter().enumerate().map(item).collect())
        }
        (_, desired) => desired.clone(),
    }
}

/// Returns the item of `others` that stands for the same thing as `item`, which is `items[index]`: by name where
/// it has one, by position where the lists are of one length.
pub(crate) fn counterpart<'a>(
    others: &'a [Value],
    items: &[Value],
    index: usize,
    item: &Value,
) -> Option<&'a Value> {
    match name_of(item) {
        Some(name) => others.iter().find(|other| name_of(other) == Some(name)),
        None if others.len() == items.len() => others.get(index),
        None => None,
    }
}

/// Returns what names a list item: `name`, or `metadata.name` as in claim templates.
pub(crate) fn name_of(item: &Value) -> Option<&str> {
    item.get("name").or_else(|| item.pointer("/metadata/name"))?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_declared_wins_and_defaults_stay() {
        let check = |live: Value, desired: Value, want: Value| assert_eq!(overlay(&live, &desired), want);
        check(json!({"a": 1, "b": 2}), json!({"a": 3, "c": 4}), json!({"a": 3, "b": 2, "c": 4}));
        check(json!({"a": 1}), json!({"a": null}), json!({"a": 1}));
        check(
            json!([{"name": "a", "default": 1}, {"name": "b"}]),
            json!([{"name": "c"}, {"name": "a", "x": 2}]),
            json!([{"name": "c"}, {"name": "a", "default": 1, "x": 2}]),
        );
        check(json!([1, 2]), json!([3]), json!([3]));
        check(
            json!([{"metadata": {"name": "d"}, "spec": {"mode": "Filesystem"}}]),
            json!([{"metadata": {"name": "d"}, "spec": {"size": 1}}]),
            json!([{"metadata": {"name": "d"}, "spec": {"mode": "Filesystem", "size": 1}}]),
        );
    }
}
