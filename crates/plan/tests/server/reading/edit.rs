//! Changes of live objects, by hand and by controllers, and of the commit.

use serde_json::{Value, json};
use windlass_cluster::{ApplyRequest, Expect};
use windlass_model::{Object, PART_OF};

use super::addition;
use super::dice::Dice;
use crate::bed::Bed;

/// Who edits live objects.
const WRITERS: [&str; 3] = ["kubectl-edit", "some-operator", "kubectl-annotate"];
/// Fields that say what an object is, or that a change of would take out of the test.
const SPARED: [&str; 8] =
    ["apiVersion", "kind", "name", "namespace", "managedFields", "status", "resourceVersion", "uid"];

/// Without it the server drops fields of another object, which only its answer tells.
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// Changes one field of a live object; says what was done, if the server let it be done.
pub(super) fn live(bed: &Bed, object: &Value, dice: &mut Dice) -> Option<String> {
    let (kind, name) = (kind_of(object), object["metadata"]["name"].as_str().unwrap());
    let live: Value =
        serde_json::from_str(&bed.kubectl(&["-n", &bed.namespace, "get", &kind, name, "-o", "json"], ""))
            .ok()?;
    let places = places(&live);
    if places.is_empty() {
        return None;
    }
    let (pointer, value) = dice.pick(&places).clone();
    let patch = match dice.below(4) {
        0 => json!([{"op": "remove", "path": pointer}]),
        1 => json!([{"op": "add", "path": format!("{}/x{}", parent(&pointer), dice.below(9)), "value": "x"}]),
        _ => json!([{"op": "replace", "path": pointer, "value": other(&value, dice)}]),
    };
    let writer = format!("--field-manager={}", dice.pick(&WRITERS));
    let text = patch.to_string();
    let arguments = ["-n", &bed.namespace, "patch", &kind, name, "--type=json", &writer, "-p", &text];
    bed.attempt(&arguments).then(|| format!("{writer} {kind}/{name} {text}"))
}

/// Changes, adds or takes out one field of a declared object; says what was done.
pub(super) fn declared(object: &mut Value, dice: &mut Dice) -> String {
    let name = format!("declared {}/{}", object["kind"], object["metadata"]["name"]);
    if dice.below(3) == 0
        && let Some(told) = addition::add(object, dice)
    {
        return format!("{name} {told}");
    }
    let places = places(object);
    if places.is_empty() {
        return format!("{name} as it is");
    }
    let (pointer, value) = dice.pick(&places).clone();
    let key = pointer.rsplit('/').next().unwrap().replace("~1", "/").replace("~0", "~");
    if dice.below(3) == 0 {
        match object.pointer_mut(parent(&pointer)) {
            Some(Value::Object(map)) => drop(map.remove(&key)),
            Some(Value::Array(list)) if dice.below(2) == 0 => list.reverse(),
            Some(Value::Array(list)) => drop(list.remove(key.parse().unwrap())),
            _ => {}
        }
        return format!("{name} without {pointer}");
    }
    let new = other(&value, dice);
    *object.pointer_mut(&pointer).unwrap() = new.clone();
    format!("{name} {pointer}: {new}")
}

/// Delivers what was delivered at first; an object that cannot be changed back is made anew.
pub(super) async fn restore(bed: &Bed, objects: &[Value]) {
    let set = bed.set("shop").id();
    for body in objects {
        let mut object = Object::new(body.clone(), None).unwrap();
        object.set_label(PART_OF, &set);
        let request = ApplyRequest { object: &object, expect: Expect::Anything, force: true, dry_run: false };
        if bed.cluster.apply(request).await.is_err() {
            let name = body["metadata"]["name"].as_str().unwrap();
            bed.kubectl(&["-n", &bed.namespace, "delete", &kind_of(body), name], "");
            bed.cluster.apply(request).await.unwrap();
        }
    }
}

/// Returns every scalar of an object, and where it is.
fn places(object: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    collect(object, String::new(), &mut found);
    found
}

fn collect(value: &Value, pointer: String, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            let spared = |key: &str| key == OPEN || SPARED.contains(&key) && !pointer.contains("spec");
            for (key, value) in map.iter().filter(|(key, _)| !spared(key)) {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                collect(value, format!("{pointer}/{index}"), found);
            }
        }
        value => found.push((pointer, value.clone())),
    }
}

fn other(value: &Value, dice: &mut Dice) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().unwrap_or_default() + 1),
        Value::String(text) => {
            let words = ["a", "1", "2Gi", "1000m", "IfNotPresent", "Always"];
            let number: Option<u64> = text.parse().ok();
            number.map_or_else(|| json!(dice.pick(&words)), |number| json!((number + 1).to_string()))
        }
        other => other.clone(),
    }
}

fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').unwrap().0
}

/// Returns a kind as kubectl takes it: `Deployment.v1.apps`.
pub(super) fn kind_of(object: &Value) -> String {
    let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    match version.split_once('/') {
        Some((group, version)) => format!("{kind}.{version}.{group}"),
        None => kind.to_owned(),
    }
}
