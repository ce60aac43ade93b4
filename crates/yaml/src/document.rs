//! What reading gives: values that know where they were written.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something legal that is probably not what its author meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// Where it stands.
    pub position: Position,
    /// What is read and how to write it instead. Never repeats a value, because it may be a secret.
    pub text: String,
}

/// One document of a stream.
#[derive(Clone)]
pub struct Document {
    /// The value as the API server would get it.
    pub value: Value,
    /// The line of the document's first node, from 1.
    pub line: u64,
    /// What is legal but dangerous, in the order of the text.
    pub lints: Vec<Lint>,
    pub(crate) root: Spot,
}

impl Document {
    /// Returns where the node named by a JSON pointer (RFC 6901) is written: the key of a mapping's entry, the
    /// item of a list. Content that comes from an alias or a merge is found where its anchor stands.
    pub fn position(&self, pointer: &str) -> Option<Position> {
        let mut spot = &self.root;
        if !pointer.is_empty() {
            for token in pointer.strip_prefix('/')?.split('/') {
                let token = token.replace("~1", "/").replace("~0", "~");
                spot = match &spot.children {
                    Children::None => return None,
                    Children::Map(entries) => entries.get(&token)?,
                    Children::List(items) => items.get(token.parse::<usize>().ok()?)?,
                };
            }
        }
        Some(spot.position)
    }
}

/// The value may be a Secret, so it is never printed.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document(line {})", self.line)
    }
}

/// Where a node is written, and its children: the shape of the value without the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) position: Position,
    pub(crate) children: Children,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Children {
    None,
    Map(BTreeMap<String, Spot>),
    List(Vec<Spot>),
}
