//! Whether a value is what its schema describes.

use serde_json::{Map, Value};
use windlass_model::{FieldPath, type_name};

use crate::flaw::{Findings, FlawKind};
use crate::node::{Kind, Node};
use crate::{lists, metadata};

/// Checks a value and everything below it.
pub(crate) fn check(node: &Node, value: &Value, path: &FieldPath, findings: &mut Findings) {
    if !has_kind(node, value) {
        findings.flaw(
            path,
            FlawKind::Shape,
            format!("must be {}, is {}", wanted(node.kind), type_name(value)),
        );
        return;
    }
    choices(node, value, path, findings);
    if value.is_null() {
        return;
    }
    node.limits.check(value, path, findings);
    if let Value::String(text) = value {
        if let Some(pattern) = &node.pattern {
            pattern.check(text, path, findings);
        }
        if let Some(format) = &node.format {
            format.check(text, path, findings);
        }
    }
    node.logic.check(value, path, findings);
    match value {
        Value::Object(fields) => object(node, fields, path, findings),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(node) = &node.items {
                    check(node, item, &path.index(index), findings);
                }
            }
            lists::check(node, items, path, findings);
        }
        _ => {}
    }
    if node.embedded {
        metadata::embedded(value, path, findings);
    }
}

fn object(node: &Node, fields: &Map<String, Value>, path: &FieldPath, findings: &mut Findings) {
    for name in node.required.iter().filter(|name| !fields.contains_key(*name)) {
        findings.flaw(&path.key(name), FlawKind::Missing, "is required");
    }
    for (name, value) in fields {
        if let Some(node) = node.field(name) {
            check(node, value, &path.key(name), findings);
        }
    }
}

/// A null is none of the choices, even where it stands among them (measured on 1.36).
fn choices(node: &Node, value: &Value, path: &FieldPath, findings: &mut Findings) {
    let Some(choices) = &node.choices else { return };
    if value.is_null() || !choices.contains(value) {
        let all: Vec<String> = choices.iter().map(ToString::to_string).collect();
        findings.flaw(path, FlawKind::Missing, format!("must be one of {}", all.join(", ")));
    }
}

fn has_kind(node: &Node, value: &Value) -> bool {
    match (node.kind, value) {
        (_, Value::Null) => node.nullable,
        (Kind::Any, _)
        | (Kind::Object, Value::Object(_))
        | (Kind::Array, Value::Array(_))
        | (Kind::String | Kind::IntOrString, Value::String(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Boolean, Value::Bool(_)) => true,
        (Kind::Integer | Kind::IntOrString, Value::Number(number)) => {
            number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}

fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "a value",
        Kind::Object => "an object",
        Kind::Array => "a list",
        Kind::String => "a text",
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::IntOrString => "a whole number or a text",
    }
}
