//! A YAML file as a tree in which every key and value knows its place.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) kind: Kind,
}

/// What a value is, before anybody says what it should be.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) value: Node,
}

impl Node {
    /// Reads one YAML document; an empty one is an empty mapping, since every key may have a default.
    pub(crate) fn read(text: &str) -> Result<Self, serde_saphyr::Error> {
        let mut root: Self = serde_saphyr::from_str_with_options(text, options())?;
        if matches!(root.kind, Kind::Null) {
            root = Self { line: 1, column: 1, kind: Kind::Map(Vec::new()) };
        }
        Ok(root)
    }

    /// Returns the entry of a mapping's key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Returns the node at a path such as `source.keys[0].name`, or the deepest node on the way there.
    pub(crate) fn nearest(&self, path: &str) -> &Self {
        let path = path.trim_start_matches('.');
        let (step, rest) = match path.strip_prefix('[') {
            Some(index) => index.split_once(']').unwrap_or((index, "")),
            None => path.split_at(path.find(['.', '[']).unwrap_or(path.len())),
        };
        let next = match &self.kind {
            Kind::Map(_) => self.entry(step).map(|entry| &entry.value),
            Kind::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
            _ => None,
        };
        next.map_or(self, |node| node.nearest(rest))
    }

    /// Names what was found, with its value where that is short.
    pub(crate) fn found(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Number(value) => format!("the number {value}"),
            Kind::Text(text) => quoted(text),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// Quotes a text for a message, shortened.
pub(crate) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}

/// How both files are read: only `true` and `false` are booleans, `0755` is an octal number as in
/// Kubernetes manifests, and what is ambiguous is an error.
pub(crate) fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        legacy_octal_numbers: true,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
        with_snippet: false,
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), column: spanned.referenced.column(), kind: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(serde_json::Number::from_f64(value).map_or_else(|| Kind::Text(value.to_string()), Kind::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = access.next_entry::<Spanned<String>, Node>()? {
            let (line, column) = (key.referenced.line(), key.referenced.column());
            entries.push(Entry { key: key.value, line, column, value });
        }
        Ok(Kind::Map(entries))
    }
}
