//! Values as rules see them (apiserver, `pkg/cel/common/values.go`).

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cel::Value as Cel;
use cel::objects::{Key, Map, OptionalValue};
use serde_json::{Map as Fields, Value};

use crate::format::{Format, duration};
use crate::node::{Kind, Node};

/// Names that are words of CEL.
const KEYWORDS: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Converts a value with what the schema says about it.
pub(super) fn of(node: &Node, value: &Value) -> Cel {
    match value {
        Value::Object(fields) => object(node, fields),
        Value::Array(items) => {
            let item = |value| node.items.as_deref().map_or_else(|| plain(value), |node| of(node, value));
            Cel::List(Arc::new(items.iter().map(item).collect()))
        }
        Value::String(text) => formatted(node, text).unwrap_or_else(|| plain(value)),
        Value::Number(number) if node.kind == Kind::Number => {
            number.as_f64().map_or_else(|| plain(value), Cel::Float)
        }
        Value::Number(number) if matches!(node.kind, Kind::Integer | Kind::IntOrString) => {
            whole(number).map_or_else(|| plain(value), Cel::Int)
        }
        value => plain(value),
    }
}

pub(super) fn optional(value: Option<Cel>) -> Cel {
    Cel::Opaque(Arc::new(value.map_or_else(OptionalValue::none, OptionalValue::of)))
}

/// A null field counts as absent; an undeclared one is out of a rule's reach unless the object is a map.
fn object(node: &Node, fields: &Fields<String, Value>) -> Cel {
    let mut map = HashMap::new();
    for (name, value) in fields {
        let converted = node.field(name).map_or_else(|| plain(value), |node| of(node, value));
        if node.is_map() {
            map.insert(key(name), converted);
        } else if !value.is_null() {
            // The server finds a field under its plain name as well, where CEL can write that.
            map.insert(key(name), converted.clone());
            map.insert(key(&escape(name)), converted);
        }
    }
    if node.embedded {
        map.entry(key("apiVersion")).or_insert_with(|| Cel::from(""));
        map.entry(key("kind")).or_insert_with(|| Cel::from(""));
        map.entry(key("metadata")).or_insert_with(|| Cel::Map(Map { map: Arc::new(HashMap::new()) }));
    }
    Cel::Map(Map { map: Arc::new(map) })
}

fn plain(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int)
        }
        Value::String(text) => Cel::from(text.as_str()),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(plain).collect())),
        Value::Object(fields) => {
            let map = fields.iter().map(|(name, value)| (key(name), plain(value))).collect();
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

fn key(name: &str) -> Key {
    Key::String(Arc::new(name.to_owned()))
}

fn whole(number: &serde_json::Number) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the schema was checked: it is a whole number")]
    number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))
}

/// A text whose format is a type of CEL.
fn formatted(node: &Node, text: &str) -> Option<Cel> {
    match node.format? {
        Format::Byte => STANDARD.decode(text).ok().map(|bytes| Cel::Bytes(Arc::new(bytes))),
        Format::Date => timestamp(&format!("{text}T00:00:00Z")),
        Format::DateTime => timestamp(text),
        Format::Duration => {
            duration(text).map(|nanoseconds| Cel::Duration(chrono::Duration::nanoseconds(nanoseconds)))
        }
        _ => None,
    }
}

fn timestamp(text: &str) -> Option<Cel> {
    chrono::DateTime::parse_from_rfc3339(text).ok().map(Cel::Timestamp)
}

/// Escapes a field's name so that CEL can write it (apiserver, `pkg/cel/escaping.go`).
fn escape(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_escaped_as_kubernetes_does() {
        for (name, want) in [
            ("replicas", "replicas"),
            ("my_field", "my_field"),
            ("namespace", "__namespace__"),
            ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
            ("a__b", "a__underscores__b"),
        ] {
            assert_eq!(super::escape(name), want);
        }
    }
}
