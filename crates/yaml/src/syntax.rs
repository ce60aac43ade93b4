//! Syntax errors in words that help.

use libyaml_safer::{Error, Mark};

use crate::stream::Chunk;
use crate::{Position, YamlError};

/// Returns the position of a parser's mark.
pub(crate) fn position(chunk: &Chunk, mark: Mark) -> Position {
    chunk.position(mark.line, mark.column)
}

/// Turns the parser's error into ours.
pub(crate) fn error(chunk: &Chunk, error: &Error) -> YamlError {
    let mark = error.problem_mark().or(error.context_mark()).unwrap_or_default();
    let context = error.context().map_or_else(String::new, |context| format!(" {context}"));
    YamlError::new(position(chunk, mark), format!("{}{context}", error.problem()), hint(error.problem()))
}

fn hint(problem: &str) -> &'static str {
    if problem.contains("cannot start any token") {
        "indent with spaces, not tabs, and put a text that starts with a special character in quotes"
    } else if problem.contains("tab character") {
        "indent with spaces"
    } else if problem.contains("mapping values are not allowed") {
        "put a text that holds `: ` in quotes, or correct the indentation"
    } else if problem.contains("<document start>") {
        "`kubectl` reads no `%` directives: remove them"
    } else if problem.contains("could not find expected ':'") {
        "close the quote, or write the key on one line of at most 1024 characters"
    } else if problem.contains("end of stream") {
        "close the quote or bracket"
    } else {
        "correct the YAML; indentation and quotes are the usual causes"
    }
}

/// Refuses characters that YAML 1.1 does not allow, and line separators that it reads differently from YAML 1.2
/// and from every editor.
pub(crate) fn check_characters(chunk: &Chunk) -> Result<(), YamlError> {
    let mut before = '\n';
    let found = chunk.text.char_indices().find(|(_, character)| {
        // A byte-order mark at the start of a line would become part of a key.
        let wrong = !is_allowed(*character) || (*character == '\u{feff}' && matches!(before, '\n' | '\r'));
        before = *character;
        wrong
    });
    let Some((at, character)) = found else { return Ok(()) };
    let end = crate::stream::end_of(&chunk.text[..at]);
    let position = Position { line: end.line + chunk.first_line - 1, column: end.column };
    let message = format!("character U+{:04X} is not allowed", u32::from(character));
    Err(YamlError::new(position, message, "write it as an escape inside double quotes, or remove it"))
}

fn is_allowed(character: char) -> bool {
    match character {
        '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => false,
        '\t' | '\n' | '\r' | ' '..='~' => true,
        _ => character >= '\u{a0}',
    }
}
