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
        ("integer for a number", json!({"number": 2})),
        ("too small a number", json!({"number": 0})),
        ("exclusive maximum", json!({"number": 10})),
        ("below the exclusive maximum", json!({"number": 9.5})),
        ("a multiple", json!({"even": 4})),
        ("no multiple", json!({"even": 3})),
        ("more than int32", json!({"narrow": 2_147_483_648_u64})),
        ("the most of int32", json!({"narrow": 2_147_483_647})),
        ("a short text", json!({"text": "a"})),
        ("a long text", json!({"text": "abcdef"})),
        ("five characters in ten bytes", json!({"text": "ééééé"})),
        ("matches", json!({"pattern": "a1.x"})),
        ("does not match", json!({"pattern": "1a"})),
        ("other digits do not match", json!({"pattern": "a١"})),
        ("in the enumeration", json!({"choice": "a"})),
        ("not in the enumeration", json!({"choice": "c"})),
        ("null in the enumeration", json!({"choiceOrNull": null})),
        ("null where it is allowed", json!({"nullable": null})),
        ("null where it is not", json!({"text": null})),
        ("null for an object", json!({"deep": null})),
        ("null for a default", json!({"defaulted": null})),
        ("null in a list", json!({"list": [null]})),
        ("null in a map", json!({"map": {"a": null}})),
        ("a default replaced", json!({"defaulted": "y"})),
        ("a default replaced wrongly", json!({"defaulted": "z"})),
        ("int of int-or-string", json!({"port": 80})),
        ("string of int-or-string", json!({"port": "http"})),
        ("neither of int-or-string", json!({"port": true})),
        ("fraction of int-or-string", json!({"port": 1.5})),
        ("pattern of int-or-string", json!({"portPattern": "10"})),
        ("number past a pattern", json!({"portPattern": 10})),
        ("too few items", json!({"list": []})),
        ("too many items", json!({"list": ["a", "b", "c", "d"]})),
        ("wrong item", json!({"list": ["a", 1]})),
        ("a set", json!({"set": ["a", "b"]})),
        ("a set with a double", json!({"set": ["a", "b", "a"]})),
        ("a keyed list", json!({"keyed": [{"name": "a"}, {"name": "a", "port": 81}]})),
        (
            "a keyed list with a double",
            json!({"keyed": [{"name": "a", "port": 1}, {"name": "a", "port": 1}]}),
        ),
        ("a double by default", json!({"keyed": [{"name": "a"}, {"name": "a", "port": 80}]})),
        ("a keyed item without a key", json!({"keyed": [{"value": 1}]})),
        ("a wrong value in a keyed item", json!({"keyed": [{"name": "a", "value": "1"}]})),
        ("a map", json!({"map": {"a.b/c": 1}})),
        ("an empty map", json!({"map": {}})),
        ("too large a map", json!({"map": {"a": 1, "b": 2, "c": 3}})),
        ("a wrong value in a map", json!({"map": {"a": "1"}})),
        ("too small a value in a map", json!({"map": {"a": -1}})),
        ("anything in a map", json!({"anything": {"a": {"b": [1, null]}}})),
        ("an open object", json!({"open": {"x": {"y": 1}, "known": 1}})),
        ("a wrong known field in an open object", json!({"open": {"x": 1, "known": "1"}})),
        (
            "a template",
            json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "x": 1}}),
        ),
        ("a template without kind", json!({"template": {"apiVersion": "v1"}})),
        (
            "a closed template",
            json!({"closedTemplate": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"a": "1"}}}),
        ),
        (
            "an unknown field in a closed template",
            json!({"closedTemplate": {"apiVersion": "v1", "kind": "A", "spec": {"b": "1"}}}),
        ),
        ("one of two", json!({"one": {"a": "1"}})),
        ("both of two", json!({"one": {"a": "1", "b": "1"}})),
        ("none of two", json!({"one": {}})),
        ("any by its field", json!({"any": {"a": 1}})),
        ("any by its pattern", json!({"any": {"b": "xy"}})),
        ("not any by its pattern", json!({"any": {"b": "y"}})),
        ("all", json!({"all": 3})),
        ("not all", json!({"all": 5})),
        ("not forbidden", json!({"not": "good"})),
        ("forbidden", json!({"not": "worse"})),
        ("ipv4", json!({"ipv4": "10.0.0.1"})),
        ("no ipv4", json!({"ipv4": "10.0.0.256"})),
        ("ipv6", json!({"ipv6": "fd00::1"})),
        ("no ipv6", json!({"ipv6": "fd00::g"})),
        ("cidr", json!({"cidr": "10.0.0.0/8"})),
        ("no cidr", json!({"cidr": "10.0.0.0/33"})),
        ("uuid", json!({"uuid": "123e4567-e89b-12d3-a456-426614174000"})),
        ("no uuid", json!({"uuid": "123e4567"})),
        ("base64", json!({"byte": "aGk="})),
        ("no base64", json!({"byte": "a-b"})),
        ("date", json!({"date": "2026-02-28"})),
        ("no date", json!({"date": "2026-02-30"})),
        ("date-time", json!({"time": "2026-02-28T10:00:00Z"})),
        ("date-time with an offset", json!({"time": "2026-02-28T10:00:00.123+02:00"})),
        ("no date-time", json!({"time": "2026-02-28 10"})),
        ("duration", json!({"duration": "1h30m"})),
        ("no duration", json!({"duration": "soon"})),
        ("an email address", json!({"email": "a@b.c"})),
        ("an email address with a name, which only the server judges", json!({"email": "A <a@b.c>"})),
        ("a made-up format", json!({"unknownFormat": "whatever"})),
        ("several flaws", json!({"choice": "c", "all": 5, "pattern": "1"})),
        ("a missing field", json!({"size": null})),
        ("the exclusive minimum", json!({"size": 1})),
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
    for (name, object) in [
        ("no spec at all", json!({})),
        ("an empty spec", json!({"spec": {}})),
        ("an unknown field at the root", json!({"spec": {"size": 5}, "specs": {}})),
        (
            "an unknown field of metadata",
            json!({"spec": {"size": 5}, "metadata": {"name": "one", "labls": {}}}),
        ),
        (
            "a label that is no text",
            json!({"spec": {"size": 5}, "metadata": {"name": "one", "labels": {"a": 1}}}),
        ),
        ("annotations", json!({"spec": {"size": 5}, "metadata": {"name": "one", "annotations": {"a": "b"}}})),
    ] {
        bed.compare(name, &object, None, &mut tally).await;
    }
    assert!(tally.accepted > 35 && tally.refused > 45 && tally.undecided <= 1, "{tally:?}");
    bed.end().await;
}
