//! Laying a declaration over a live object (structured-merge-diff, `typed/merge.go`).

use serde_json::{Map, Value};

use super::place::{Items, Place};

/// Says what becomes of a value that is owned as a whole, live and declared: the live value itself where both mean the
/// same.
pub type Settle<'s> = dyn Fn(&Place<'_>, &Value, &Value) -> Value + 's;

/// How objects of a kind are merged.
pub(super) struct Merge<'s> {
    /// Whether the server knows the kind itself, and stores no zero values of it.
    pub(super) built_in: bool,
    pub(super) settle: &'s Settle<'s>,
}

impl Merge<'_> {
    /// Lays a declared map over a live one: what is not declared stays.
    pub(super) fn map(
        &self,
        place: &Place<'_>,
        live: &Map<String, Value>,
        declared: &Map<String, Value>,
    ) -> Value {
        let mut merged = live.clone();
        for (name, value) in declared {
            if let Some(value) = self.value(&place.field(name), live.get(name), value) {
                merged.insert(name.clone(), value);
            }
        }
        Value::Object(merged)
    }

    /// Returns what is at a place afterwards; `None` for what is not stored.
    fn value(&self, place: &Place<'_>, live: Option<&Value>, declared: &Value) -> Option<Value> {
        let Some(live) = live else {
            // It was sent before, and the server has left it out.
            let left_out = self.built_in && place.is_owned() && is_zero(declared);
            return (!left_out).then(|| declared.clone());
        };
        Some(match (live, declared) {
            (_, Value::Null) if self.built_in => live.clone(),
            (Value::Object(live), Value::Object(declared)) if !place.is_whole() => {
                self.map(place, live, declared)
            }
            (Value::Array(before), Value::Array(after)) => match place.items(after, self.built_in) {
                Items::Whole => (self.settle)(place, live, declared),
                items => self.list(place, &items, before, after),
            },
            _ => (self.settle)(place, live, declared),
        })
    }

    /// Merges two lists item by item: declared items come in the declared order, and an item that only the live list has
    /// keeps its place before the shared one that follows it.
    fn list(&self, place: &Place<'_>, items: &Items, live: &[Value], declared: &[Value]) -> Value {
        let named =
            |list: &[Value]| -> Vec<String> { list.iter().map(|item| place.key_of(item, items)).collect() };
        let (before, after) = (named(live), named(declared));
        let mut shared = after.iter().filter(|key| before.contains(key)).peekable();
        let mut rest = before.iter().zip(live).peekable();
        let mut merged = Vec::new();
        for (key, item) in after.iter().zip(declared) {
            while let Some((other, value)) =
                rest.next_if(|(other, _)| !after.contains(other) || shared.peek() != Some(other))
            {
                merged.extend((!after.contains(other)).then(|| value.clone()));
            }
            let found = before.iter().zip(live).find(|(other, _)| *other == key).map(|(_, value)| value);
            merged.extend(match found {
                Some(_) => self.value(&place.item(key), found, item),
                None => Some(Place::completed(item, items)),
            });
            if found.is_some() {
                shared.next();
                rest.next_if(|(other, _)| *other == key);
            }
        }
        merged.extend(rest.filter(|(other, _)| !after.contains(other)).map(|(_, value)| value.clone()));
        Value::Array(merged)
    }
}

/// Says whether a value is one that the server need not store.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_zero),
    }
}
