//! Mappings and lists while they are being read.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::document::{Children, Spot};
use crate::resolve::Scalar;
use crate::{Lint, Position, YamlError};

/// A finished node.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) content: Content,
    pub(crate) spot: Spot,
    /// Whether an alias stands here and not the node itself.
    pub(crate) alias: bool,
    /// How many nodes it has, itself included.
    pub(crate) size: usize,
    /// How many collections lie inside one another.
    pub(crate) height: usize,
}

#[derive(Clone)]
pub(crate) enum Content {
    /// The key that asks for a merge: an unquoted `<<`.
    Merge,
    Scalar(Scalar),
    Collection(Value),
}

impl Node {
    pub(crate) fn scalar(content: Content, position: Position) -> Self {
        Self { content, spot: Spot { position, children: Children::None }, alias: false, size: 1, height: 0 }
    }

    /// Gives the node away as a value.
    pub(crate) fn into_value(self) -> Result<(Value, Spot), YamlError> {
        let value = match self.content {
            Content::Merge => Value::from("<<"),
            Content::Collection(value) => value,
            Content::Scalar(scalar) => scalar.to_json().ok_or_else(|| {
                let hint = "JSON has no infinity and no NaN; quote it if it is a text";
                YamlError::new(self.spot.position, "a number that JSON cannot hold", hint)
            })?,
        };
        Ok((value, self.spot))
    }
}

/// A collection that is not closed yet.
pub(crate) struct Frame {
    pub(crate) position: Position,
    pub(crate) anchor: Option<String>,
    /// Whether it is written in brackets.
    pub(crate) flow: bool,
    size: usize,
    height: usize,
    collection: Collection,
}

enum Collection {
    List(Vec<Value>, Vec<Spot>),
    Map(Mapping),
}

#[derive(Default)]
struct Mapping {
    entries: Map<String, Value>,
    spots: BTreeMap<String, Spot>,
    /// The keys that the text writes in this mapping, not those that merges bring.
    written: HashMap<String, Position>,
    merge: Option<Position>,
    pending: Option<Key>,
}

enum Key {
    Text(String, Position),
    Merge(Position),
}

impl Frame {
    pub(crate) fn list(position: Position, anchor: Option<String>, flow: bool) -> Self {
        Self::new(position, anchor, flow, Collection::List(Vec::new(), Vec::new()))
    }

    pub(crate) fn map(position: Position, anchor: Option<String>, flow: bool) -> Self {
        Self::new(position, anchor, flow, Collection::Map(Mapping::default()))
    }

    fn new(position: Position, anchor: Option<String>, flow: bool, collection: Collection) -> Self {
        Self { position, anchor, flow, size: 1, height: 1, collection }
    }

    /// Says whether the next node is a key.
    pub(crate) fn awaits_key(&self) -> bool {
        matches!(&self.collection, Collection::Map(mapping) if mapping.pending.is_none())
    }

    /// Takes the next node.
    pub(crate) fn push(&mut self, node: Node, lints: &mut Vec<Lint>) -> Result<(), YamlError> {
        self.size += node.size;
        self.height = self.height.max(node.height + 1);
        match &mut self.collection {
            Collection::List(values, spots) => {
                let (value, spot) = node.into_value()?;
                values.push(value);
                spots.push(spot);
                Ok(())
            }
            Collection::Map(mapping) => match mapping.pending.take() {
                None => mapping.start(node, lints),
                Some(Key::Text(key, position)) => {
                    let (value, spot) = node.into_value()?;
                    mapping.spots.insert(key.clone(), Spot { position, children: spot.children });
                    mapping.entries.insert(key, value);
                    Ok(())
                }
                Some(Key::Merge(position)) => mapping.merge(node, position, lints),
            },
        }
    }

    /// Closes the collection.
    pub(crate) fn close(self) -> Node {
        let (value, children) = match self.collection {
            Collection::List(values, spots) => (Value::Array(values), Children::List(spots)),
            Collection::Map(mapping) => (Value::Object(mapping.entries), Children::Map(mapping.spots)),
        };
        let spot = Spot { position: self.position, children };
        Node { content: Content::Collection(value), spot, alias: false, size: self.size, height: self.height }
    }
}

impl Mapping {
    /// Takes a key.
    fn start(&mut self, node: Node, lints: &mut Vec<Lint>) -> Result<(), YamlError> {
        let position = node.spot.position;
        let scalar = match node.content {
            Content::Merge => {
                self.pending = Some(Key::Merge(position));
                return self
                    .merge
                    .replace(position)
                    .map_or(Ok(()), |first| Err(duplicate("<<", first, position)));
            }
            Content::Collection(_) => {
                return Err(YamlError::new(
                    position,
                    "a mapping or list cannot be a key",
                    "use a text as key",
                ));
            }
            Content::Scalar(scalar) => scalar,
        };
        let key = scalar.to_key().ok_or_else(|| {
            let message = "a key that is empty, null or a huge number";
            YamlError::new(position, message, "put the key in quotes")
        })?;
        if !matches!(scalar, Scalar::Text(_)) {
            let text = format!("the key is no text and is read as `{key}`; put it in quotes");
            lints.push(Lint { position, text });
        }
        if let Some(first) = self.written.insert(key.clone(), position) {
            return Err(duplicate(&key, first, position));
        }
        self.pending = Some(Key::Text(key, position));
        Ok(())
    }

    /// Merges in place: what is merged wins over what was written before it, and in a list the earlier mapping
    /// wins (go-yaml v2; the YAML 1.1 type repository lets written keys win).
    fn merge(&mut self, node: Node, position: Position, lints: &mut Vec<Lint>) -> Result<(), YamlError> {
        let wrong = || {
            YamlError::new(
                position,
                "`<<` merges something that is not a mapping",
                "merge a mapping or a list of mappings",
            )
        };
        let alias = node.alias;
        let (Content::Collection(value), children) = (node.content, node.spot.children) else {
            return Err(wrong());
        };
        let mappings = match (value, children) {
            (Value::Object(map), Children::Map(spots)) => vec![(map, spots)],
            (Value::Array(values), Children::List(items)) if !alias => values
                .into_iter()
                .zip(items)
                .rev()
                .map(|(value, spot)| match (value, spot.children) {
                    (Value::Object(map), Children::Map(spots)) => Ok((map, spots)),
                    _ => Err(wrong()),
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(wrong()),
        };
        for (map, spots) in mappings {
            if let Some(key) = map.keys().find(|key| self.written.contains_key(*key)) {
                let text =
                    format!("the merge stands after the key `{key}` and overrides it; put the merge first");
                lints.push(Lint { position, text });
            }
            self.entries.extend(map);
            self.spots.extend(spots);
        }
        Ok(())
    }
}

pub(crate) fn duplicate(key: &str, first: Position, second: Position) -> YamlError {
    let key: String = key.chars().take(80).collect();
    let message = format!("key `{key}` is here again, first on line {}", first.line);
    YamlError::new(second, message, "keep one of the two; `kubectl` would silently take the last one")
}
