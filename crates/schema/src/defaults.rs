//! Setting the schema's defaults, in the order of the server: a field's own default first, then what is below it
//! (apiextensions-apiserver, `pkg/apiserver/schema/defaulting/algorithm.go`).

use serde_json::Value;

use crate::node::Node;

/// Sets what is missing, and replaces a null where the field is not nullable.
pub(crate) fn apply(node: &Node, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, property) in &node.properties {
                let Some(default) = &property.default else { continue };
                if fields.get(name).is_none_or(|value| value.is_null() && !property.nullable) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields {
                if let Some(node) = node.field(name) {
                    replace_null(node, value);
                    apply(node, value);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &node.items else { return };
            for item in items {
                replace_null(node, item);
                apply(node, item);
            }
        }
        _ => {}
    }
}

fn replace_null(node: &Node, value: &mut Value) {
    if let (Value::Null, false, Some(default)) = (&value, node.nullable, &node.default) {
        *value = default.clone();
    }
}
