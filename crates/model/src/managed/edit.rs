//! Taking fields of a set out of an object, and putting them in from another.

use serde_json::{Map, Value};

use super::FieldSet;
use super::step::Step;
use crate::FieldPath;

/// Removes the fields of a set from an object and returns the paths of what was there.
///
/// The key fields of a list item go with the item only, which goes when the set holds the item itself and nothing
/// else is left of it. A map that loses its last field goes too: an empty one would be a declaration of its own.
pub fn strip(object: &mut Value, fields: &FieldSet) -> Vec<FieldPath> {
    let mut removed = Vec::new();
    strip_below(object, &fields.to_fields(), &FieldPath::root(), &[], &mut removed);
    removed
}

/// Copies the fields of a set from one object to another, where the other one has the lists' items.
/// An item that is missing is made if the set holds the item itself.
pub fn carry(to: &mut Value, from: &Value, fields: &FieldSet) {
    carry_below(to, from, &fields.to_fields());
}

fn children(node: &Value) -> impl Iterator<Item = (Step, &Value)> {
    node.as_object().into_iter().flatten().filter_map(|(key, below)| Some((Step::parse(key)?, below)))
}

fn is_leaf(node: &Value) -> bool {
    node.as_object().is_none_or(Map::is_empty)
}

fn is_member(node: &Value) -> bool {
    is_leaf(node) || node.get(".").is_some()
}

/// Removes what a node of the tree says from a value; `keys` are the names of key fields, which stay.
fn strip_below(
    value: &mut Value,
    node: &Value,
    path: &FieldPath,
    keys: &[&str],
    removed: &mut Vec<FieldPath>,
) {
    for (step, below) in children(node) {
        let place = step.below(path);
        match (&step, &mut *value) {
            (Step::Field(name), Value::Object(map)) if !keys.contains(&name.as_str()) => {
                let Some(child) = map.get_mut(name) else { continue };
                if is_leaf(below) || !child.is_object() && !child.is_array() && is_member(below) {
                    map.remove(name);
                    removed.push(place);
                } else if !is_empty(child) {
                    strip_below(child, below, &place, &[], removed);
                    if is_empty(child) {
                        map.remove(name);
                    }
                }
            }
            (Step::Field(_), _) => {}
            (_, Value::Array(list)) => strip_item(list, &step, below, &place, removed),
            _ => {}
        }
    }
}

fn strip_item(
    list: &mut Vec<Value>,
    step: &Step,
    node: &Value,
    path: &FieldPath,
    removed: &mut Vec<FieldPath>,
) {
    let Some(position) = step.position(list) else { return };
    let keys: Vec<&str> = match step {
        Step::Item(keys) => keys.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let Some(item) = list.get_mut(position) else { return };
    if !is_leaf(node) {
        strip_below(item, node, path, &keys, removed);
    }
    let nothing_left = item.as_object().is_none_or(|map| map.keys().all(|key| keys.contains(&key.as_str())));
    if is_leaf(node) || is_member(node) && nothing_left {
        list.remove(position);
        removed.push(path.clone());
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn carry_below(to: &mut Value, from: &Value, node: &Value) {
    for (step, below) in children(node) {
        let Some(source) = step.find(from) else { continue };
        match (&step, &mut *to) {
            (Step::Field(name), Value::Object(map)) => {
                if is_leaf(below) || !source.is_object() && !source.is_array() {
                    map.insert(name.clone(), source.clone());
                    continue;
                }
                let was_there = map.contains_key(name);
                let empty =
                    if source.is_array() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
                let mut child = map.remove(name).unwrap_or_else(|| empty.clone());
                carry_below(&mut child, source, below);
                if child != empty || was_there {
                    map.insert(name.clone(), child);
                }
            }
            (Step::Field(_), _) => {}
            (_, Value::Array(list)) => carry_item(list, source, &step, below),
            _ => {}
        }
    }
}

fn carry_item(list: &mut Vec<Value>, source: &Value, step: &Step, node: &Value) {
    if let Some(item) = step.position(list).and_then(|position| list.get_mut(position)) {
        carry_below(item, source, node);
        return;
    }
    match step {
        Step::Item(keys) if is_member(node) => {
            let mut item = Value::Object(keys.clone());
            carry_below(&mut item, source, node);
            list.push(item);
        }
        Step::Value(_) => list.push(source.clone()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_taken_out() {
        let check = |object: Value, fields: Value, want: Value, paths: &[&str]| {
            let mut object = object;
            let removed = strip(&mut object, &FieldSet::of(&fields));
            assert_eq!(object, want);
            assert_eq!(removed.iter().map(ToString::to_string).collect::<Vec<_>>(), paths);
        };
        check(
            json!({"spec": {"replicas": 2, "x": 1}}),
            json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}),
            json!({"spec": {"x": 1}}),
            &["spec.replicas"],
        );
        check(
            json!({"spec": {"a": {"b": 1}}}),
            json!({"f:spec": {"f:a": {"f:b": {}}}}),
            json!({}),
            &["spec.a.b"],
        );
        let web = "k:{\"name\":\"web\"}";
        let containers = json!({"c": [{"name": "web", "image": "i"}, {"name": "db"}]});
        check(
            containers.clone(),
            json!({"f:c": {web: {"f:image": {}, "f:name": {}}}}),
            json!({"c": [{"name": "web"}, {"name": "db"}]}),
            &["c[name=web].image"],
        );
        check(
            containers,
            json!({"f:c": {web: {".": {}, "f:image": {}, "f:name": {}}}}),
            json!({"c": [{"name": "db"}]}),
            &["c[name=web].image", "c[name=web]"],
        );
        check(
            json!({"p": [{"port": 80}]}),
            json!({"f:p": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}}}),
            json!({}),
            &["p[port=80,protocol=TCP]"],
        );
        check(
            json!({"m": {"finalizers": ["a", "b"]}}),
            json!({"f:m": {"f:finalizers": {"v:\"a\"": {}}}}),
            json!({"m": {"finalizers": ["b"]}}),
            &["m.finalizers[=a]"],
        );
    }

    #[test]
    fn fields_are_put_in() {
        let check = |to: Value, from: Value, fields: Value, want: Value| {
            let mut to = to;
            carry(&mut to, &from, &FieldSet::of(&fields));
            assert_eq!(to, want);
        };
        let live = json!({"spec": {"replicas": 5}, "m": {"a": {"x": "1", "y": "2"}}, "c": [{"name": "web", "image": "i"}]});
        check(
            json!({"spec": {}}),
            live.clone(),
            json!({"f:spec": {"f:replicas": {}}}),
            json!({"spec": {"replicas": 5}}),
        );
        check(json!({}), live.clone(), json!({"f:m": {"f:a": {"f:x": {}}}}), json!({"m": {"a": {"x": "1"}}}));
        let web = "k:{\"name\":\"web\"}";
        check(json!({"c": []}), live.clone(), json!({"f:c": {web: {"f:image": {}}}}), json!({"c": []}));
        check(
            json!({"c": []}),
            live.clone(),
            json!({"f:c": {web: {".": {}, "f:name": {}, "f:image": {}}}}),
            json!({"c": [{"name": "web", "image": "i"}]}),
        );
        check(json!({"a": 1}), live, json!({"f:gone": {}}), json!({"a": 1}));
    }
}
