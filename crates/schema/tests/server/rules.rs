//! CEL rules on new objects.

use serde_json::{Value, json};

use crate::bed::{Bed, Tally};

fn rule(rule: &str) -> Value {
    json!([{"rule": rule, "message": "says no"}])
}

fn schema() -> Value {
    let text = |expression: &str| json!({"type": "string", "maxLength": 60, "x-kubernetes-validations": rule(expression)});
    let count = json!({"type": "integer"});
    json!({
        "type": "object", "required": ["size"],
        "x-kubernetes-validations": [
            {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max", "message": "min is more than max",
                "fieldPath": ".min"},
            {"rule": "!has(self.max) || self.max < 100", "messageExpression": "self.max > 100 ? 'far too much' : 'too much'"},
            {"rule": "!has(self.limits) || self.limits.all(k, self.limits[k] > 0)"},
            {"rule": "!has(self.namespace) || self.__namespace__ != 'default'"},
            {"rule": "!has(self.my_name) || self.my_name.startsWith('my-')"},
            {"rule": "!has(self.dashed__dash__name) || self.dashed__dash__name.size() > 1"},
            {"rule": "!has(self.ratio) || self.ratio > 0.5"},
            {"rule": "!has(self.first) || self.first.list[0] == 'a'"},
            {"rule": "!has(self.divisor) || 10 / self.divisor > 1"},
            {"rule": "!has(self.port) || (type(self.port) == int ? self.port > 0 : self.port != '')"},
            {"rule": "self.?maybe.value.orValue(1) > 0"},
            {"rule": "!has(self.counts) || self.counts.sum() < 10 && self.counts.isSorted()"},
            {"rule": "has(self.defaulted) && self.defaulted != 'y'"},
        ],
        "properties": {
            "size": count, "min": count, "max": count, "divisor": count,
            "limits": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "integer"}},
            "namespace": {"type": "string"}, "my_name": {"type": "string"}, "dashed-name": {"type": "string"},
            "ratio": {"type": "number"}, "port": {"x-kubernetes-int-or-string": true},
            "first": {"type": "object", "properties": {"list": {"type": "array", "maxItems": 5, "items": {"type": "string"}}}},
            "maybe": {"type": "object", "properties": {"value": count}},
            "counts": {"type": "array", "maxItems": 5, "items": count},
            "defaulted": {"type": "string", "default": "x"},
            "nullable": {"type": "string", "nullable": true},
            "length": text("self.size() <= 3"),
            "regex": text("self.matches('^[a-z]+$')"),
            "parts": text("self.split(',').all(p, p.trim() == p)"),
            "lower": text("self == self.lowerAscii()"),
            "quantity": text("quantity(self).isGreaterThan(quantity('1Gi'))"),
            "url": text("isURL(self)"),
            "address": text("ip(self).family() == 4"),
            "range": text("cidr(self).containsIP('10.0.0.1')"),
            "version": text("isSemver(self)"),
            "formatted": text("self == 'x-%d'.format([1])"),
            "when": {"type": "string", "format": "date-time", "x-kubernetes-validations": rule("self > timestamp('2026-01-01T00:00:00Z')")},
            "long": {"type": "string", "format": "duration", "x-kubernetes-validations": rule("self <= duration('1h')")},
            "bytes": {"type": "string", "format": "byte", "maxLength": 60, "x-kubernetes-validations": rule("self.size() == 2")},
            "items": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "x-kubernetes-validations": rule("self.exists_one(i, has(i.main) && i.main)"),
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string", "maxLength": 20}, "main": {"type": "boolean"}},
                    "x-kubernetes-validations": rule("self.name != 'x'")}},
            "named": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 20,
                "x-kubernetes-validations": rule("self != 'x'")}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-validations": rule("self.kind != 'Pod' && has(self.metadata)")},
            "blocked": {"type": "string", "enum": ["a"]},
        },
    })
}

#[tokio::test]
async fn rules_are_judged_as_by_the_server() {
    let root = json!([{"rule": "self.metadata.name.size() < 10 && self.kind == 'Sample'"}]);
    let bed = Bed::new(&schema(), &root).await;
    let mut tally = Tally::default();
    for (name, fields) in [
        ("nothing", json!({})),
        ("a comparison that holds", json!({"min": 1, "max": 2})),
        ("a comparison that fails", json!({"min": 3, "max": 2})),
        ("a message that is computed", json!({"max": 100})),
        ("all keys of a map", json!({"limits": {"a": 1, "b-c": 2}})),
        ("not all keys of a map", json!({"limits": {"a": 1, "b-c": 0}})),
        ("a keyword as a name", json!({"namespace": "shop"})),
        ("a keyword as a name, refused", json!({"namespace": "default"})),
        ("an underscore in a name", json!({"my_name": "my-a"})),
        ("an underscore in a name, refused", json!({"my_name": "a"})),
        ("a dash in a name", json!({"dashed-name": "ab"})),
        ("a dash in a name, refused", json!({"dashed-name": "a"})),
        ("a whole number where fractions are meant", json!({"ratio": 1})),
        ("a fraction, refused", json!({"ratio": 0.25})),
        ("an index", json!({"first": {"list": ["a"]}})),
        ("an index that is out of bounds", json!({"first": {"list": []}})),
        ("a key that is missing", json!({"first": {}})),
        ("a division", json!({"divisor": 2})),
        ("a division by zero", json!({"divisor": 0})),
        ("int of int-or-string", json!({"port": 1})),
        ("int of int-or-string, refused", json!({"port": 0})),
        ("string of int-or-string", json!({"port": "a"})),
        ("string of int-or-string, refused", json!({"port": ""})),
        ("an optional field", json!({"maybe": {"value": 2}})),
        ("an optional field, refused", json!({"maybe": {"value": 0}})),
        ("an optional field that is missing", json!({"maybe": {}})),
        ("a sorted list", json!({"counts": [1, 2, 3]})),
        ("an unsorted list", json!({"counts": [3, 2]})),
        ("a default, replaced", json!({"defaulted": "y"})),
        ("a length in characters", json!({"length": "ééé"})),
        ("a length, refused", json!({"length": "abcd"})),
        ("a regular expression", json!({"regex": "abc"})),
        ("a regular expression, refused", json!({"regex": "a1"})),
        ("parts", json!({"parts": "a,b"})),
        ("parts, refused", json!({"parts": "a, b"})),
        ("lower case", json!({"lower": "abc"})),
        ("lower case, refused", json!({"lower": "Abc"})),
        ("a quantity", json!({"quantity": "2Gi"})),
        ("a quantity, refused", json!({"quantity": "1Mi"})),
        ("a URL", json!({"url": "https://x.example"})),
        ("a URL, refused", json!({"url": "x"})),
        ("an address", json!({"address": "10.0.0.1"})),
        ("an address, refused", json!({"address": "fd00::1"})),
        ("a range", json!({"range": "10.0.0.0/8"})),
        ("a range, refused", json!({"range": "11.0.0.0/8"})),
        ("a version", json!({"version": "1.2.3"})),
        ("a formatted text", json!({"formatted": "x-1"})),
        ("a formatted text, refused", json!({"formatted": "x-2"})),
        ("a time", json!({"when": "2026-02-01T00:00:00+01:00"})),
        ("a time, refused", json!({"when": "2025-02-01T00:00:00Z"})),
        ("a duration", json!({"long": "59m"})),
        ("a duration, refused", json!({"long": "61m"})),
        ("bytes", json!({"bytes": "aGk="})),
        ("bytes, refused", json!({"bytes": "aGkh"})),
        ("exactly one", json!({"items": [{"name": "a", "main": true}, {"name": "b", "main": false}]})),
        ("not exactly one", json!({"items": [{"name": "a", "main": true}, {"name": "b", "main": true}]})),
        ("an item, refused", json!({"items": [{"name": "a", "main": true}, {"name": "x"}]})),
        ("a value of a map, refused", json!({"named": {"a.b": "x"}})),
        (
            "an embedded object",
            json!({"template": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}}),
        ),
        (
            "an embedded object, refused",
            json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}),
        ),
        ("a null counts as absent", json!({"nullable": null})),
        ("rules behind a flaw are not evaluated", json!({"blocked": "b", "max": 100})),
        ("two rules", json!({"max": 100, "min": 200})),
    ] {
        let mut spec = json!({"size": 1});
        for (key, value) in fields.as_object().unwrap() {
            spec[key] = value.clone();
        }
        bed.compare(name, &json!({"spec": spec}), None, &mut tally).await;
    }
    bed.compare(
        "the name",
        &json!({"metadata": {"name": "a-long-name"}, "spec": {"size": 1}}),
        None,
        &mut tally,
    )
    .await;
    assert!(tally.accepted >= 29 && tally.refused >= 33 && tally.undecided == 2, "{tally:?}");
    bed.end().await;
}
