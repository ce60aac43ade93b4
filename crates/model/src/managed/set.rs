//! Sets of fields in the form of `fieldsV1`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::step::Step;
use crate::FieldPath;

/// A set of fields, each the list of the keys that lead to it in a `fieldsV1` tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSet(BTreeSet<Vec<String>>);

/// The key by which a tree says that a node itself is a member, beside what is below it.
const HERE: &str = ".";

impl FieldSet {
    /// Reads a `fieldsV1` tree.
    pub fn of(fields: &Value) -> Self {
        let mut set = BTreeSet::new();
        collect(fields, &mut Vec::new(), &mut set);
        Self(set)
    }

    /// Returns the `fieldsV1` tree of the set.
    pub fn to_fields(&self) -> Value {
        let mut tree = Map::new();
        for keys in &self.0 {
            insert(&mut tree, keys);
        }
        Value::Object(tree)
    }

    /// Says whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// Returns what is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Returns what is only in this one.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).cloned().collect())
    }

    /// Returns the members whose path passes a test.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&FieldPath) -> bool) -> Self {
        Self(self.0.iter().filter(|keys| path(keys).is_some_and(|path| keep(&path))).cloned().collect())
    }

    /// Returns the set with every named field above a member as a member too.
    #[must_use]
    pub(super) fn with_parents(&self) -> Self {
        let above = self.0.iter().flat_map(|keys| {
            let prefixes = (1..keys.len()).filter_map(|length| keys.get(..length));
            prefixes
                .filter(|prefix| prefix.last().is_some_and(|key| key.starts_with("f:")))
                .map(<[String]>::to_vec)
        });
        Self(self.0.iter().cloned().chain(above).collect())
    }

    /// Returns the members that lead to something in an object.
    #[must_use]
    pub fn within(&self, object: &Value) -> Self {
        Self(self.0.iter().filter(|keys| find(keys, object).is_some()).cloned().collect())
    }

    /// Returns the members whose values differ between two objects. One with members below it differs only if one of the
    /// objects lacks it.
    #[must_use]
    pub(super) fn differing(&self, one: &Value, other: &Value) -> Self {
        let mut members = self.0.iter().peekable();
        let mut differing = BTreeSet::new();
        while let Some(keys) = members.next() {
            let is_above = members.peek().is_some_and(|next| next.starts_with(keys));
            let differs = match (find(keys, one), find(keys, other)) {
                (Some(one), Some(other)) => !is_above && one != other,
                (None, None) => false,
                _ => true,
            };
            if differs {
                differing.insert(keys.clone());
            }
        }
        Self(differing)
    }

    /// Returns the members as plans print them, in the order of their keys.
    pub fn paths(&self) -> impl Iterator<Item = FieldPath> {
        self.0.iter().filter_map(|keys| path(keys))
    }

    /// Returns the members with no member below them.
    pub fn leaves(&self) -> impl Iterator<Item = FieldPath> {
        // In this order, what is below a member follows it at once.
        let mut members = self.0.iter().peekable();
        std::iter::from_fn(move || {
            loop {
                let keys = members.next()?;
                if !members.peek().is_some_and(|next| next.starts_with(keys)) {
                    return Some(keys);
                }
            }
        })
        .filter_map(|keys| path(keys))
    }
}

/// Returns what a member leads to in an object.
fn find<'a>(keys: &[String], object: &'a Value) -> Option<&'a Value> {
    keys.iter().try_fold(object, |value, key| Step::parse(key)?.find(value))
}

fn path(keys: &[String]) -> Option<FieldPath> {
    keys.iter().try_fold(FieldPath::root(), |path, key| Some(Step::parse(key)?.below(&path)))
}

fn collect(node: &Value, keys: &mut Vec<String>, set: &mut BTreeSet<Vec<String>>) {
    let Some(children) = node.as_object() else { return };
    if children.is_empty() && !keys.is_empty() {
        set.insert(keys.clone());
    }
    for (key, below) in children {
        if key == HERE {
            set.insert(keys.clone());
        } else {
            keys.push(key.clone());
            collect(below, keys, set);
            keys.pop();
        }
    }
}

fn insert(tree: &mut Map<String, Value>, keys: &[String]) {
    let Some((first, rest)) = keys.split_first() else { return };
    let was_there = tree.contains_key(first);
    let Value::Object(below) = tree.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())) else {
        return;
    };
    if rest.is_empty() {
        if !below.is_empty() {
            below.insert(HERE.to_owned(), Value::Object(Map::new()));
        }
        return;
    }
    // An empty node is a member; with something below it, it has to say so.
    if was_there && below.is_empty() {
        below.insert(HERE.to_owned(), Value::Object(Map::new()));
    }
    insert(below, rest);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({"f:spec": {"f:replicas": {}, "f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {
            ".": {}, "f:port": {}, "f:name": {}}}}, "f:metadata": {"f:finalizers": {"v:\"a.b/c\"": {}}}})
    }

    #[test]
    fn a_tree_is_written_as_it_was_read() {
        for tree in [sample(), json!({}), json!({"f:data": {}})] {
            assert_eq!(FieldSet::of(&tree).to_fields(), tree);
        }
    }

    #[test]
    fn sets_are_combined_member_by_member() {
        let whole = FieldSet::of(&json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}}));
        let leaf = FieldSet::of(&json!({"f:data": {}}));
        let item = FieldSet::of(&json!({"f:data": {"f:a": {}}}));
        assert_eq!(leaf.union(&item).to_fields(), json!({"f:data": {".": {}, "f:a": {}}}));
        assert_eq!(whole.difference(&leaf).to_fields(), json!({"f:data": {"f:a": {}, "f:b": {}}}));
        assert_eq!(whole.intersection(&item), item);
        assert!(leaf.difference(&whole).is_empty());
    }

    #[test]
    fn paths_are_those_of_a_plan() {
        let leaves: Vec<String> = FieldSet::of(&sample()).leaves().map(|path| path.to_string()).collect();
        let port = "spec.ports[port=80,protocol=TCP]";
        assert_eq!(
            leaves,
            [
                "metadata.finalizers[=a.b/c]".to_owned(),
                format!("{port}.name"),
                format!("{port}.port"),
                "spec.replicas".to_owned()
            ]
        );
    }
}
