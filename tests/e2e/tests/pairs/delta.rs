//! Whether the fields that a plan shows are the change that the server would make: carried out on the live object,
//! they must give the server's answer.

use serde_json::{Map, Value};
use windlass_e2e::difference;

use super::oracle::LABEL;

/// A step of a path as plans write it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
    /// A list item by its key fields.
    Item(Vec<(String, String)>),
}

/// Returns an object without what the server keeps about it, and without the label of a set, which no plan shows.
pub(crate) fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    let fields = object.as_object_mut().unwrap();
    fields.remove("status");
    let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut).unwrap();
    for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
        metadata.remove(key);
    }
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.remove(LABEL);
    }
    for key in ["annotations", "labels"] {
        if metadata.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            metadata.remove(key);
        }
    }
    object
}

/// Returns what is wrong with a delta between two comparable objects.
pub(crate) fn flaws(delta: &Value, live: &Value, answer: &Value) -> Vec<String> {
    let (mut got, mut want) = (live.clone(), answer.clone());
    let mut flaws = Vec::new();
    let mut lists: Vec<Vec<Step>> = Vec::new();
    for change in delta.as_array().map_or(&[][..], Vec::as_slice) {
        let path = change["path"].as_str().unwrap_or_default();
        let steps = steps(path);
        let (before, after) = (find(live, &steps), find(answer, &steps));
        if change["change"] == "reordered" {
            if before == after {
                flaws.push(format!("{path} is said to be reordered, and is not"));
            }
            lists.push(steps);
            continue;
        }
        flaws.extend(sides(change, before, after).map(|flaw| format!("{path}: {flaw}")));
        if matches!(steps.last(), Some(Step::Item(_))) && (before.is_none() || after.is_none()) {
            lists.push(steps[..steps.len() - 1].to_vec());
        }
        put(&mut got, &steps, after.cloned());
    }
    // Where an item came or went, the delta does not say in which place.
    for steps in &lists {
        for side in [&mut got, &mut want] {
            if let Some(Value::Array(items)) = find_mut(side, steps) {
                items.sort_by_key(Value::to_string);
            }
        }
    }
    flaws.extend(difference(&got, &want).into_iter().map(|place| format!("not told: {place}")));
    flaws
}

/// Compares what a change says with what was found on both sides. Values of Secrets are masked.
fn sides(change: &Value, before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    if before == after {
        return Some("told, and not changed".to_owned());
    }
    let want = match (before, after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    if change["change"] != want {
        return Some(format!("{want}, told as {}", change["change"]));
    }
    for (side, value) in [("before", before), ("after", after)] {
        let told = change.get(side);
        let masked = told.is_some_and(|told| told.to_string().contains("\"***\""));
        // The next dry-run, or the write itself, would choose another one.
        let chosen = side == "after" && told.is_some_and(|told| told == "(chosen by the server)");
        if told != value && !masked && !chosen {
            return Some(format!("{side} it is {value:?}, told as {told:?}"));
        }
    }
    None
}

/// Reads `a.b[0]["c.d"][name=web]`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let (key, after) = quoted.split_once("\"]").unwrap();
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (inner, after) = inner.split_once(']').unwrap();
            let pair = |pair: &str| pair.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
            let index = inner.parse().map(Step::Index);
            steps.push(index.unwrap_or_else(|_| Step::Item(inner.split(',').filter_map(pair).collect())));
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    steps
}

fn is_meant(item: &Value, keys: &[(String, String)]) -> bool {
    keys.iter().all(|(key, value)| match &item[key] {
        Value::String(text) => text == value,
        Value::Number(number) => number.to_string() == *value,
        _ => false,
    })
}

fn find<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.as_object()?.get(key),
        Step::Index(index) => value.as_array()?.get(*index),
        Step::Item(keys) => value.as_array()?.iter().find(|item| is_meant(item, keys)),
    })
}

fn find_mut<'a>(value: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.as_object_mut()?.get_mut(key),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index),
        Step::Item(keys) => value.as_array_mut()?.iter_mut().find(|item| is_meant(item, keys)),
    })
}

/// Puts a value in a place, or takes away what is there.
fn put(root: &mut Value, steps: &[Step], value: Option<Value>) {
    let Some((last, parents)) = steps.split_last() else { return };
    let Some(parent) = find_mut(root, parents) else { return };
    match (parent, last, value) {
        (Value::Object(map), Step::Key(key), Some(value)) => drop(map.insert(key.clone(), value)),
        (Value::Object(map), Step::Key(key), None) => drop(map.remove(key)),
        (Value::Array(items), Step::Index(index), Some(value)) if *index < items.len() => {
            items[*index] = value;
        }
        (Value::Array(items), Step::Item(keys), value) => {
            items.retain(|item| !is_meant(item, keys));
            items.extend(value);
        }
        _ => {}
    }
}

#[test]
fn a_delta_that_hides_or_invents_something_is_flawed() {
    use serde_json::json;

    let live = json!({"a": 1, "l": [{"name": "x", "v": 1}, {"name": "y"}]});
    let answer = json!({"a": 2, "l": [{"name": "x", "v": 2}, {"name": "z"}]});
    let change = |path: &str, kind: &str, before: Value, after: Value| {
        let mut change = json!({"path": path, "change": kind});
        for (side, value) in [("before", before), ("after", after)] {
            if !value.is_null() {
                change[side] = value;
            }
        }
        change
    };
    let whole = [
        change("a", "changed", json!(1), json!(2)),
        change("l[name=x].v", "changed", json!(1), json!(2)),
        change("l[name=y]", "removed", json!({"name": "y"}), Value::Null),
        change("l[name=z]", "added", Value::Null, json!({"name": "z"})),
    ];
    assert_eq!(flaws(&json!(whole), &live, &answer), [""; 0]);
    for missing in 0..whole.len() {
        let mut less = whole.to_vec();
        less.remove(missing);
        assert_ne!(flaws(&json!(less), &live, &answer), [""; 0], "{missing}");
    }
    let wrong = change("a", "changed", json!(1), json!(3));
    assert_ne!(flaws(&json!([wrong]), &json!({"a": 1}), &json!({"a": 2})), [""; 0]);
    let orders = [json!({"l": [{"name": "x"}, {"name": "y"}]}), json!({"l": [{"name": "y"}, {"name": "x"}]})];
    assert_ne!(flaws(&json!([]), &orders[0], &orders[1]), [""; 0]);
}
