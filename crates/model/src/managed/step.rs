//! One step of a `fieldsV1` tree (structured-merge-diff, `fieldpath/element.go`).

use serde_json::{Map, Value};

use crate::FieldPath;

/// Where a key of a `fieldsV1` tree leads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// To a field of a map.
    Field(String),
    /// To the item of a list that has these key fields.
    Item(Map<String, Value>),
    /// To this value of a set.
    Value(Value),
    /// To a position of a list.
    Index(usize),
}

impl Step {
    /// Reads `f:name`, `k:{"name":"web"}`, `v:"value"` or `i:0`.
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (form, rest) = key.split_once(':')?;
        match form {
            "f" => Some(Self::Field(rest.to_owned())),
            "k" => serde_json::from_str(rest).ok().map(Self::Item),
            "v" => serde_json::from_str(rest).ok().map(Self::Value),
            "i" => rest.parse().ok().map(Self::Index),
            _ => None,
        }
    }

    /// Returns the path one step below another, as plans print it.
    pub(crate) fn below(&self, path: &FieldPath) -> FieldPath {
        match self {
            Self::Field(name) => path.key(name),
            Self::Item(keys) => {
                let parts: Vec<String> =
                    keys.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
                path.item(&parts.join(","))
            }
            Self::Value(value) => path.item(&format!("={}", plain(value))),
            Self::Index(index) => path.index(*index),
        }
    }

    /// Returns what the step leads to.
    pub(crate) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        if let Self::Field(name) = self {
            return value.get(name);
        }
        let list = value.as_array()?;
        list.get(self.position(list)?)
    }

    /// Returns the position of the item that the step leads to.
    ///
    /// An item may leave a key field out for which the schema has a default, such as `protocol` of a port: it is
    /// found by the others if no second item fits.
    pub(crate) fn position(&self, list: &[Value]) -> Option<usize> {
        match self {
            Self::Field(_) => None,
            Self::Index(index) => (*index < list.len()).then_some(*index),
            Self::Value(value) => list.iter().position(|item| item == value),
            Self::Item(keys) => {
                let exact = |item: &Value| keys.iter().all(|(key, value)| item.get(key) == Some(value));
                let partly = |item: &Value| {
                    keys.iter().all(|(key, value)| item.get(key).is_none_or(|found| found == value))
                        && keys.keys().any(|key| item.get(key).is_some())
                };
                list.iter().position(exact).or_else(|| {
                    let mut fitting = (0..list.len()).filter(|index| list.get(*index).is_some_and(partly));
                    fitting.next().filter(|_| fitting.next().is_none())
                })
            }
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
