//! Reads YAML exactly as Kubernetes does, with positions.
//!
//! `kubectl` reads manifests as YAML 1.1 after cutting the stream at lines that start with `---`: `yes` is a
//! boolean, `0755` is 493, `<<` merges in place. Other readers differ in about a fifth of the awkward cases, and
//! a deployment that means something else than `kubectl apply` is worse than none. The syntax is therefore read by
//! a port of libyaml, as in `kubectl`; the corpus in `tests/corpus` holds `kubectl`'s own answers.
//!
//! Stricter on purpose, because the text is then ambiguous or content would be lost without a word:
//! duplicate keys, invalid UTF-8, text after `...`, `!!binary` content that is no text, the line separators
//! NEL, LS and PS, half a surrogate pair in JSON, and more than 500 levels.

mod compose;
mod document;
mod error;
mod frame;
mod json;
mod limits;
mod number;
mod resolve;
mod stream;
mod syntax;

pub use document::{Document, Lint, Position};
pub use error::YamlError;

use limits::{Budget, Limits};

/// Reads all documents of a file: YAML, or JSON objects one after another when it starts with `{`.
///
/// Documents that are empty, hold only comments or are null are left out, as `kubectl` does.
///
/// # Errors
///
/// On the first thing that is wrong anywhere in the file; nothing is returned for a file that is right in part.
pub fn parse(bytes: &[u8]) -> Result<Vec<Document>, YamlError> {
    parse_within(bytes, Limits::default())
}

/// Reads a file that must hold exactly one document.
///
/// # Errors
///
/// As [`parse`], and when there is no document or more than one.
pub fn parse_one(bytes: &[u8]) -> Result<Document, YamlError> {
    let mut documents = parse(bytes)?.into_iter();
    let start = Position { line: 1, column: 1 };
    let first = documents.next().ok_or_else(|| {
        YamlError::new(start, "there is no document", "expected exactly one document in this file")
    })?;
    match documents.next() {
        None => Ok(first),
        Some(second) => {
            let position = Position { line: second.line, column: 1 };
            Err(YamlError::new(position, "a second document", "expected exactly one document in this file"))
        }
    }
}

fn parse_within(bytes: &[u8], limits: Limits) -> Result<Vec<Document>, YamlError> {
    let mut budget = Budget::new(limits);
    let text = stream::decode(bytes, limits.bytes)?;
    if text.trim_start().starts_with('{') {
        json::read(&text, &mut budget)
    } else {
        read_yaml(&text, 1, &mut budget)
    }
}

/// Reads a stream of YAML documents that starts on line `first_line` of its file.
fn read_yaml(text: &str, first_line: u64, budget: &mut Budget) -> Result<Vec<Document>, YamlError> {
    let mut documents = Vec::new();
    for chunk in stream::split(text, first_line)? {
        documents.extend(compose::document(&chunk, budget)?);
    }
    Ok(documents)
}
