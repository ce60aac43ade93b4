//! `fieldsV1` as text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize as _};
use serde_json::Value;

/// A `fieldsV1` tree as compact JSON. As a tree it would take some twenty times the memory: it is made of many small
/// maps, each a node of its own, and most of them are never looked at.
#[derive(Clone)]
pub(super) struct FieldsText(Box<[u8]>);

impl FieldsText {
    /// Returns the tree.
    pub(super) fn tree(&self) -> Value {
        serde_json::from_slice(&self.0).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The order of a tree's keys means nothing.
impl PartialEq for FieldsText {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.tree() == other.tree()
    }
}

impl fmt::Debug for FieldsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl<'de> Deserialize<'de> for FieldsText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = Vec::new();
        Node(&mut text).deserialize(deserializer)?;
        Ok(Self(text.into_boxed_slice()))
    }
}

/// Writes a node down as it is read: it holds nothing but nodes.
struct Node<'t>(&'t mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tree of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(text) = self;
        text.push(b'{');
        let start = text.len();
        while map.next_key_seed(Key(text, start))?.is_some() {
            map.next_value_seed(Node(text))?;
        }
        text.push(b'}');
        Ok(())
    }
}

/// Writes the key of a node down, behind a comma unless it is the first.
struct Key<'t>(&'t mut Vec<u8>, usize);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        let Self(text, start) = self;
        if text.len() > start {
            text.push(b',');
        }
        key.serialize(&mut serde_json::Serializer::new(&mut *text)).map_err(E::custom)?;
        text.push(b':');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FieldsText {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_is_read_is_kept() {
        for text in [
            "{}",
            r#"{"f:spec":{"f:ports":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}},"f:a":{}}"#,
            r#"{"v:\"ä\\u0000\n\"":{}}"#,
        ] {
            let fields = read(text);
            assert_eq!(fields.tree(), serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(fields.len(), text.len(), "{fields:?}");
        }
        assert_eq!(read("{ \"f:a\" : { } ,\n \"f:b\" : {} }").len(), r#"{"f:a":{},"f:b":{}}"#.len());
    }

    #[test]
    fn the_order_of_keys_means_nothing() {
        assert_eq!(read(r#"{"f:a":{},"f:b":{}}"#), read(r#"{"f:b":{},"f:a":{}}"#));
        assert_ne!(read(r#"{"f:a":{},"f:b":{}}"#), read(r#"{"f:a":{"f:b":{}}}"#));
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for text in ["null", "[]", r#"{"f:a":1}"#, r#"{"f:a":null}"#] {
            assert!(serde_json::from_str::<FieldsText>(text).is_err(), "{text}");
        }
    }
}
