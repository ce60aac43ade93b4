//! Comparing what two ways of delivering leave behind.

use serde_json::{Map, Value};

/// What the server sets, or what says whose the object is: two equal deliveries differ in it.
const SET_BY_SERVER: [&str; 12] = [
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/managedFields",
    "/metadata/labels/applyset.kubernetes.io~1part-of",
    "/metadata/annotations/deployment.kubernetes.io~1revision",
    "/spec/clusterIP",
    "/spec/clusterIPs",
    "/spec/healthCheckNodePort",
    "/spec/finalizers",
    "/status",
];

/// Returns an object without ownership and without what the server sets, and with one text replaced
/// everywhere, so that deliveries under two names can be compared.
pub fn normalise(object: &Value, from: &str, to: &str) -> Value {
    let mut object: Value = serde_json::from_str(&object.to_string().replace(from, to)).unwrap();
    for pointer in SET_BY_SERVER {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        if let Some(Value::Object(map)) = object.pointer_mut(parent) {
            map.remove(&key.replace("~1", "/"));
        }
    }
    for port in object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(map) = port.as_object_mut() {
            map.remove("nodePort");
        }
    }
    for empty in ["labels", "annotations"] {
        if object["metadata"][empty].as_object().is_some_and(Map::is_empty) {
            object["metadata"].as_object_mut().unwrap().remove(empty);
        }
    }
    object
}

/// Returns the paths at which two values differ, each with both values.
pub fn difference(left: &Value, right: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", left, right, &mut found);
    found
}

fn compare(path: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(l), Value::Object(r)) => {
            let mut keys: Vec<&String> = l.keys().chain(r.keys()).collect();
            keys.sort();
            keys.dedup();
            let value = |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or_default();
            for key in keys {
                compare(&format!("{path}/{key}"), &value(l, key), &value(r, key), found);
            }
        }
        (Value::Array(l), Value::Array(r)) if l.len() == r.len() => {
            for (index, (l, r)) in l.iter().zip(r).enumerate() {
                compare(&format!("{path}/{index}"), l, r, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{path}: {left} ≠ {right}")),
    }
}
