//! CEL rules that compare with what is stored.

use serde_json::{Value, json};

use crate::bed::{Bed, Tally};

fn schema() -> Value {
    let fixed = json!([{"rule": "self == oldSelf", "message": "is fixed"}]);
    json!({
        "type": "object",
        "x-kubernetes-validations": [
            {"rule": "!has(oldSelf.once) || has(self.once)", "message": "once stays"},
            {"rule": "!oldSelf.hasValue() || self.size >= oldSelf.value().size", "optionalOldSelf": true},
        ],
        "required": ["size"],
        "properties": {
            "size": {"type": "integer"}, "once": {"type": "string"},
            "class": {"type": "string", "x-kubernetes-validations": fixed},
            "items": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string", "maxLength": 20},
                    "class": {"type": "string", "x-kubernetes-validations": fixed}}}},
            "named": {"type": "object", "maxProperties": 5, "additionalProperties": {
                "type": "object", "x-kubernetes-validations": fixed,
                "properties": {"a": {"type": "integer"}}}},
            "set": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set",
                "items": {"type": "string", "maxLength": 9}, "x-kubernetes-validations": fixed},
        },
    })
}

#[tokio::test]
async fn transitions_are_judged_as_by_the_server() {
    let bed = Bed::new(&schema(), &json!([])).await;
    let stored = json!({"size": 5, "once": "a", "class": "fast", "set": ["a", "b"],
        "items": [{"name": "a", "class": "x"}, {"name": "b", "class": "y"}], "named": {"k": {"a": 1}}});
    let old = bed.store(&json!({"spec": stored})).await;
    let mut tally = Tally::default();
    for (name, changed) in [
        ("nothing", json!({})),
        ("a growth", json!({"size": 6})),
        ("a shrink", json!({"size": 4})),
        ("a fixed field", json!({"class": "slow"})),
        (
            "a fixed field of an item that moves",
            json!({"items": [{"name": "b", "class": "y"}, {"name": "a", "class": "x"}]}),
        ),
        (
            "a fixed field of an item",
            json!({"items": [{"name": "b", "class": "z"}, {"name": "a", "class": "x"}]}),
        ),
        (
            "a new item",
            json!({"items": [{"name": "a", "class": "x"}, {"name": "b", "class": "y"}, {"name": "c", "class": "q"}]}),
        ),
        ("a fixed value of a map", json!({"named": {"k": {"a": 2}}})),
        ("a new value of a map", json!({"named": {"k": {"a": 1}, "l": {"a": 2}}})),
        ("a set in another order", json!({"set": ["b", "a"]})),
        ("another set", json!({"set": ["b", "c"]})),
        ("a field that stays", json!({"once": null})),
    ] {
        let mut spec = stored.clone();
        for (key, value) in changed.as_object().unwrap() {
            spec[key] = value.clone();
            if value.is_null() {
                spec.as_object_mut().unwrap().remove(key);
            }
        }
        bed.compare(name, &json!({"spec": spec}), Some(&old), &mut tally).await;
    }
    assert!(tally.accepted >= 6 && tally.refused >= 5 && tally.undecided == 0, "{tally:?}");
    bed.end().await;
}
