//! Items that must be unique: sets, and lists that are maps by some keys.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};
use crate::node::{List, Node};

/// Checks what makes the items of a list distinct.
pub(crate) fn check(node: &Node, items: &[Value], path: &FieldPath, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let identity = match &node.list {
            List::Atomic => return,
            List::Set => Some(item.to_string()),
            List::Map(keys) => identity(item, keys),
        };
        if identity.is_some_and(|identity| !seen.insert(identity)) {
            findings.flaw(&path.index(index), FlawKind::Shape, "is in the list twice");
        }
    }
}

/// Returns the values of an item's keys; an item that is no object has none.
pub(crate) fn identity(item: &Value, keys: &[String]) -> Option<String> {
    let item = item.as_object()?;
    let values: Vec<&Value> = keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null)).collect();
    serde_json::to_string(&values).ok()
}
