//! Field-level differences between two states of one object.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::secret::MASK;
use crate::{FieldPath, GroupKind, canonical_json, is_secret_kind};

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FieldChange {
    /// Which field.
    pub path: FieldPath,
    /// How it differs.
    #[serde(rename = "change")]
    pub kind: ChangeKind,
    /// The value before; masked for Secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value after; masked for Secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// How a field differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Only the later state has it.
    Added,
    /// Only the earlier state has it.
    Removed,
    /// Both have it with different values.
    Changed,
    /// A list holds the same items in another order, which restarts pods (kubernetes issue 108708).
    Reordered,
}

/// Fields of `metadata` that the server keeps; they say nothing about intent.
const SERVER_METADATA: [&str; 7] = [
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "selfLink",
    "deletionGracePeriodSeconds",
];

/// Keys by which list items are recognised, tried in this order. Server-side apply's own keys come from the
/// schema; these are the ones that built-in kinds use, and a list that fits none is compared as a whole.
const LIST_KEYS: [&[&str]; 8] = [
    &["name"],
    &["containerPort", "protocol"],
    &["port", "protocol"],
    &["mountPath"],
    &["topologyKey", "whenUnsatisfiable"],
    &["type"],
    &["key"],
    &["uid"],
];

/// Compares two states of an object of kind `kind`, leaving out what the server keeps (`status`, managed
/// fields, versions) and masking Secret values.
pub fn delta(kind: &GroupKind, before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare(&FieldPath::root(), &comparable(before), &comparable(after), &mut changes);
    if is_secret_kind(kind) {
        changes.iter_mut().filter(|change| is_secret_value(&change.path)).for_each(mask);
    }
    changes
}

fn is_secret_value(path: &FieldPath) -> bool {
    path.starts_with(&["data"]) || path.starts_with(&["stringData"])
}

fn mask(change: &mut FieldChange) {
    for side in [&mut change.before, &mut change.after] {
        match side {
            // A whole map that appears or goes keeps its key names.
            Some(Value::Object(map)) => map.values_mut().for_each(|value| *value = Value::from(MASK)),
            Some(value) => *value = Value::from(MASK),
            None => {}
        }
    }
}

pub(crate) fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_METADATA.contains(&field.as_str()));
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
        // The server treats an empty map and a missing one as the same labels.
        metadata.retain(|field, value| {
            !(matches!(field.as_str(), "annotations" | "labels")
                && value.as_object().is_some_and(serde_json::Map::is_empty))
        });
    }
    object
}

fn compare(path: &FieldPath, before: &Value, after: &Value, changes: &mut Vec<FieldChange>) {
    match (before, after) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                compare_sides(&path.key(key), left.get(key), right.get(key), changes);
            }
        }
        (Value::Array(left), Value::Array(right)) if left != right => {
            compare_lists(path, left, right, changes);
        }
        _ if equal_numbers(before, after) => {}
        _ if before != after => changes.push(FieldChange {
            path: path.clone(),
            kind: ChangeKind::Changed,
            before: Some(before.clone()),
            after: Some(after.clone()),
        }),
        _ => {}
    }
}

fn compare_sides(
    path: &FieldPath,
    before: Option<&Value>,
    after: Option<&Value>,
    changes: &mut Vec<FieldChange>,
) {
    let one_sided =
        |kind| FieldChange { path: path.clone(), kind, before: before.cloned(), after: after.cloned() };
    match (before, after) {
        (Some(before), Some(after)) => compare(path, before, after, changes),
        (None, Some(_)) => changes.push(one_sided(ChangeKind::Added)),
        (Some(_), None) => changes.push(one_sided(ChangeKind::Removed)),
        (None, None) => {}
    }
}

fn compare_lists(path: &FieldPath, before: &[Value], after: &[Value], changes: &mut Vec<FieldChange>) {
    let Some((left, right)) =
        LIST_KEYS.iter().find_map(|keys| Some((keyed(before, keys)?, keyed(after, keys)?)))
    else {
        return compare_plain_lists(path, before, after, changes);
    };
    let found = changes.len();
    let names =
        left.iter().chain(right.iter().filter(|(key, _)| !left.iter().any(|(other, _)| other == key)));
    for (key, _) in names {
        let side = |list: &[(String, &Value)]| {
            list.iter().find(|(other, _)| other == key).map(|(_, value)| (*value).clone())
        };
        compare_sides(&path.item(key), side(&left).as_ref(), side(&right).as_ref(), changes);
    }
    let order =
        |list: &[(String, &Value)]| list.iter().map(|(key, _)| Value::from(key.as_str())).collect::<Vec<_>>();
    if changes.len() == found || same_keys_other_order(&order(&left), &order(&right)) {
        changes.push(FieldChange {
            path: path.clone(),
            kind: ChangeKind::Reordered,
            before: Some(Value::Array(order(&left))),
            after: Some(Value::Array(order(&right))),
        });
    }
}

fn same_keys_other_order(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left != right && left.iter().all(|key| right.contains(key))
}

fn compare_plain_lists(path: &FieldPath, before: &[Value], after: &[Value], changes: &mut Vec<FieldChange>) {
    if before.len() == after.len() {
        for (index, (left, right)) in before.iter().zip(after).enumerate() {
            compare(&path.index(index), left, right, changes);
        }
        return;
    }
    changes.push(FieldChange {
        path: path.clone(),
        kind: ChangeKind::Changed,
        before: Some(Value::from(before)),
        after: Some(Value::from(after)),
    });
}

/// Names each item by the key fields, or returns `None` when one lacks them or two share them.
fn keyed<'a>(items: &'a [Value], keys: &[&str]) -> Option<Vec<(String, &'a Value)>> {
    let mut seen = std::collections::HashSet::new();
    items
        .iter()
        .map(|item| {
            let parts: Option<Vec<String>> = keys
                .iter()
                .map(|key| match item.get(key)? {
                    Value::String(text) => Some(format!("{key}={text}")),
                    Value::Number(number) => Some(format!("{key}={number}")),
                    _ => None,
                })
                .collect();
            let name = parts?.join(",");
            seen.insert(name.clone()).then_some((name, item))
        })
        .collect()
}

/// `1` and `1.0` are the same number to Kubernetes.
fn equal_numbers(before: &Value, after: &Value) -> bool {
    before.is_number() && after.is_number() && canonical_json(before) == canonical_json(after)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, before: &Value, after: &Value, want: &[&str]) {
        let got: Vec<String> = delta(&GroupKind::new("", kind), before, after)
            .iter()
            .map(|change| {
                let show =
                    |side: &Option<Value>| side.as_ref().map_or_else(|| "-".to_owned(), Value::to_string);
                format!("{:?} {} {} {}", change.kind, change.path, show(&change.before), show(&change.after))
            })
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn plain_fields() {
        check(
            "ConfigMap",
            &json!({"data": {"a": "1", "b": "2"}}),
            &json!({"data": {"b": "3", "c": "4"}}),
            &["Removed data.a \"1\" -", "Changed data.b \"2\" \"3\"", "Added data.c - \"4\""],
        );
    }

    #[test]
    fn server_metadata_and_status_are_left_out() {
        let before = json!({"metadata": {"name": "a", "resourceVersion": "1", "generation": 1, "annotations": {}}, "status": {"x": 1}});
        let after =
            json!({"metadata": {"name": "a", "resourceVersion": "2", "generation": 2}, "status": {"x": 2}});
        check("ConfigMap", &before, &after, &[]);
    }

    #[test]
    fn list_items_are_recognised_by_key() {
        let before = json!({"c": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]});
        let after = json!({"c": [{"name": "a", "image": "2"}, {"name": "x", "image": "1"}]});
        check(
            "Pod",
            &before,
            &after,
            &[
                "Changed c[name=a].image \"1\" \"2\"",
                "Removed c[name=b] {\"image\":\"1\",\"name\":\"b\"} -",
                "Added c[name=x] - {\"image\":\"1\",\"name\":\"x\"}",
            ],
        );
    }

    #[test]
    fn an_order_only_change_is_a_change() {
        check(
            "Pod",
            &json!({"e": [{"name": "a"}, {"name": "b"}]}),
            &json!({"e": [{"name": "b"}, {"name": "a"}]}),
            &["Reordered e [\"name=a\",\"name=b\"] [\"name=b\",\"name=a\"]"],
        );
    }

    #[test]
    fn duplicate_keys_fall_back_to_positions() {
        let before = json!({"e": [{"name": "a", "v": 1}, {"name": "a", "v": 2}]});
        let after = json!({"e": [{"name": "a", "v": 1}, {"name": "a", "v": 3}]});
        check("Pod", &before, &after, &["Changed e[1].v 2 3"]);
    }

    #[test]
    fn numbers_compare_by_value() {
        check(
            "X",
            &json!({"a": 1, "b": 9_007_199_254_740_993_i64}),
            &json!({"a": 1.0, "b": 9_007_199_254_740_992_i64}),
            &["Changed b 9007199254740993 9007199254740992"],
        );
    }

    #[test]
    fn secret_values_are_masked_on_both_sides() {
        check(
            "Secret",
            &json!({"data": {"k": "b2xk"}, "type": "A"}),
            &json!({"data": {"k": "bmV3", "l": "bmV3"}, "type": "B"}),
            &["Changed data.k \"***\" \"***\"", "Added data.l - \"***\"", "Changed type \"A\" \"B\""],
        );
        check("Secret", &json!({}), &json!({"data": {"k": "bmV3"}}), &["Added data - {\"k\":\"***\"}"]);
    }
}
