//! Paths to fields, written for people: `spec.template.spec.containers[name=web].image`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A path to a field of an object; list items are named by their key fields where they have any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, JsonSchema)]
#[schemars(with = "String", extend("examples" = ["spec.template.spec.containers[name=web].image"]))]
pub struct FieldPath(Vec<Segment>);

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field, by its name.
    Key(String),
    /// A list item, by its position.
    Index(usize),
    /// A list item, by its key fields: `name=web`.
    Item(String),
}

impl FieldPath {
    /// Returns the path of the object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the path of a field below this one.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.push(Segment::Key(key.to_owned()))
    }

    /// Returns the path of a list item below this one, by position.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.push(Segment::Index(index))
    }

    /// Returns the path of a list item below this one, by its key fields: `name=web`.
    #[must_use]
    pub fn item(&self, keys: &str) -> Self {
        self.push(Segment::Item(keys.to_owned()))
    }

    /// Returns the path's first two field names, such as `spec.template`, to sort and classify changes.
    pub fn starts_with(&self, keys: &[&str]) -> bool {
        let mut segments = self.0.iter();
        keys.iter().all(|want| matches!(segments.next(), Some(Segment::Key(key)) if key == want))
    }

    /// Returns the steps from the object to the field.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Says whether another path is this one or leads below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Says whether the path leads through no list.
    pub fn is_plain(&self) -> bool {
        self.0.iter().all(|segment| matches!(segment, Segment::Key(_)))
    }

    /// Removes what is at this path, whose list items are given by position, and maps that it leaves empty: an empty map
    /// would be a declaration of its own. Says whether there was anything.
    pub fn remove_from(&self, object: &mut Value) -> bool {
        remove(object, &self.0)
    }

    fn push(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

fn remove(value: &mut Value, segments: &[Segment]) -> bool {
    match (value, segments) {
        (Value::Object(map), [Segment::Key(key)]) => map.remove(key).is_some(),
        (Value::Array(list), [Segment::Index(index)]) if *index < list.len() => {
            list.remove(*index);
            true
        }
        (Value::Object(map), [Segment::Key(key), below @ ..]) => {
            let Some(child) = map.get_mut(key) else { return false };
            let removed = remove(child, below);
            if removed && child.as_object().is_some_and(serde_json::Map::is_empty) {
                map.remove(key);
            }
            removed
        }
        (Value::Array(list), [Segment::Index(index), below @ ..]) => {
            list.get_mut(*index).is_some_and(|item| remove(item, below))
        }
        _ => false,
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if key.contains(['.', '[', ']', '/', '"']) => write!(f, "[{key:?}]")?,
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Item(keys) => write!(f, "[{keys}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for FieldPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_leaves_no_empty_map_behind() {
        let check = |path: FieldPath, want: Value, there: bool| {
            let mut object = serde_json::json!({"data": {"a": {"b": 1}}, "list": [{"c": 2}], "empty": {}});
            assert_eq!((path.remove_from(&mut object), object), (there, want), "{path}");
        };
        let root = FieldPath::root;
        let list = serde_json::json!([{"c": 2}]);
        check(root().key("data").key("a").key("b"), serde_json::json!({"list": list, "empty": {}}), true);
        let whole = serde_json::json!({"data": {"a": {"b": 1}}, "list": [{"c": 2}], "empty": {}});
        check(root().key("empty").key("x"), whole, false);
        let without = serde_json::json!({"data": {"a": {"b": 1}}, "list": [{}], "empty": {}});
        check(root().key("list").index(0).key("c"), without, true);
    }

    #[test]
    fn written_for_people() {
        let path = FieldPath::root().key("spec").key("containers").item("name=web").key("args").index(2);
        assert_eq!(path.to_string(), "spec.containers[name=web].args[2]");
        let path = FieldPath::root().key("metadata").key("labels").key("app.kubernetes.io/name");
        assert_eq!(path.to_string(), "metadata.labels[\"app.kubernetes.io/name\"]");
        assert!(path.starts_with(&["metadata", "labels"]));
        assert!(!path.starts_with(&["spec"]));
    }
}
