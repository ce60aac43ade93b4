//! Paths to fields, written for people: `spec.template.spec.containers[name=web].image`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

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

    fn push(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
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
    fn written_for_people() {
        let path = FieldPath::root().key("spec").key("containers").item("name=web").key("args").index(2);
        assert_eq!(path.to_string(), "spec.containers[name=web].args[2]");
        let path = FieldPath::root().key("metadata").key("labels").key("app.kubernetes.io/name");
        assert_eq!(path.to_string(), "metadata.labels[\"app.kubernetes.io/name\"]");
        assert!(path.starts_with(&["metadata", "labels"]));
        assert!(!path.starts_with(&["spec"]));
    }
}
