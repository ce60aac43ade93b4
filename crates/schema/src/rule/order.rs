//! Lists whose order means nothing: Kubernetes finds them equal in any order, and CEL here compares item by item.

use serde_json::Value;

use crate::lists::identity;
use crate::node::{List, Node};

/// Returns the old value with the items of its sets and keyed lists in the order that they have in the new one.
pub(super) fn like(node: &Node, old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(olds), Value::Object(news)) => {
            let field = |(name, old): (&String, &Value)| {
                let below = node.field(name).zip(news.get(name));
                (name.clone(), below.map_or_else(|| old.clone(), |(node, new)| like(node, old, new)))
            };
            Value::Object(olds.iter().map(field).collect())
        }
        (Value::Array(olds), Value::Array(news)) => Value::Array(items(node, olds, news)),
        _ => old.clone(),
    }
}

fn items(node: &Node, olds: &[Value], news: &[Value]) -> Vec<Value> {
    let place = |index: usize, old: &Value| match &node.list {
        List::Atomic => Some(index).filter(|_| olds.len() == news.len()),
        List::Set => news.iter().position(|new| new == old),
        List::Map(keys) => news.iter().position(|new| identity(new, keys) == identity(old, keys)),
    };
    let mut placed: Vec<(Option<usize>, &Value)> =
        olds.iter().enumerate().map(|(index, old)| (place(index, old), old)).collect();
    placed.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
    let item = |(place, old): (Option<usize>, &Value)| {
        let new = place.and_then(|place| news.get(place));
        node.items.as_deref().zip(new).map_or_else(|| old.clone(), |(node, new)| like(node, old, new))
    };
    placed.into_iter().map(item).collect()
}
