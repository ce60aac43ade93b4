//! Types, constraints, defaults, unknown fields.

use serde_json::{Value, json};

use crate::bed::{Bed, Tally};

fn schema() -> Value {
    let number = json!({"type": "number", "minimum": 0.5, "maximum": 10, "exclusiveMaximum": true});
    json!({
        "type": "object", "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMinimum": true},
            "number": number,
            "narrow": {"type": "integer", "format": "int32"},
            "even": {"type": "integer", "multipleOf": 2},
            "text": {"type": "string", "minLength": 2, "maxLength": 5},
            "pattern": {"type": "string", "pattern": r"^[a-z]\d+(\.\w+)?$"},
            "choice": {"type": "string", "enum": ["a", "b"]},
            "choiceOrNull": {"type": "string", "nullable": true, "enum": ["a", null]},
            "flag": {"type": "boolean"},
            "nullable": {"type": "string", "nullable": true},
            "defaulted": {"type": "string", "default": "x", "enum": ["x", "y"]},
            "deep": {"type": "object", "default": {"a": "z"}, "required": ["a"],
                "properties": {"a": {"type": "string", "default": "z"}, "b": {"type": "integer"}}},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "portPattern": {"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+%$"},
            "list": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string"}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "port": {"type": "integer", "default": 80}, "value": {"type": "integer"}}}},
            "map": {"type": "object", "maxProperties": 2, "minProperties": 1,
                "additionalProperties": {"type": "integer", "minimum": 0}},
            "anything": {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"known": {"type": "integer"}}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "closedTemplate": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "any": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                "anyOf": [{"required": ["a"]}, {"properties": {"b": {"pattern": "^x"}}, "required": ["b"]}]},
            "all": {"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 4}]},
            "not": {"type": "string", "not": {"enum": ["bad", "worse"]}},
            "ipv4": {"type": "string", "format": "ipv4"}, "ipv6": {"type": "string", "format": "ipv6"},
            "cidr": {"type": "string", "format": "cidr"}, "uuid": {"type": "string", "format": "uuid"},
            "byte": {"type": "string", "format": "byte"}, "date": {"type": "string", "format": "date"},
            "time": {"type": "string", "format": "date-time"}, "duration": {"type": "string", "format": "duration"},
            "email": {"type": "string", "format": "email"}, "unknownFormat": {"type": "string", "format": "made-up"},
        },
    })
}

/// What is put beside `size` into `spec`.
fn table() -> Vec<(&'static str, Value)> {
    vec![
        ("nothing", json!({})),
        ("unknown field", json!({"sizes": 1})),
        ("unknown field below", json!({"deep": {"a": "1", "c": 1}})),
        ("unknown field in a list", json!({"keyed": [{"name": "a", "x": 1}]})),
        ("text for a number", json!({"narrow": "1"})),
        ("number for a text", json!({"text": 123})),
        ("text for a boolean", json!({"flag": "true"})),
        ("object for a list", json!({"list": {"a": "b"}})),
        ("list for an object", json!({"deep": []})),
        ("object for a text", json!({"text": {"a": 1}})),
        ("fraction for an integer", json!({"narrow": 1.5})),
        ("whole float for an integer", json!({"narrow": 2.0})),
    ]
}

#[tokio::test]
async fn structure_is_judged_as_by_the_server() {
    let bed = Bed::new(&schema(), &json!([])).await;
    let mut tally = Tally::default();
    for (name, fields) in table() {
        let mut spec = json!({"size": 5});
        for (key, value) in fields.as_object().unwrap() {
            spec[key] = value.clone();
        }
        bed.compare(name, &json!({"spec": spec}), None, &mut tally).await;
    }
    assert!(tally.accepted >= 2 && tally.refused >= 9 && tally.undecided == 0, "{tally:?}");
    bed.end().await;
}
