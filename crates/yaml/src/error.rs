//! Why a text cannot be read.

/// Says why a text is not YAML as Kubernetes reads it, and where.
///
/// Never repeats a value of the text, because the text may be a Secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct YamlError {
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl YamlError {
    pub(crate) fn new(
        position: crate::Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { line: position.line, column: position.column, message: message.into(), hint: hint.into() }
    }

    /// Returns the position of the error.
    pub fn position(&self) -> crate::Position {
        crate::Position { line: self.line, column: self.column }
    }
}
