//! Streams of JSON objects, which `kubectl` reads as JSON and not as YAML.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::compose::HUGE;
use crate::document::{Children, Document, Spot};
use crate::limits::Budget;
use crate::{Lint, Position, YamlError, frame, number};

/// Reads a stream that starts with `{` (apimachinery's `YAMLOrJSONDecoder`).
///
/// What is not JSON before a second object was read is YAML after all: `{a: 1}`, or an object and then `---`.
pub(crate) fn read(text: &str, budget: &mut Budget) -> Result<Vec<Document>, YamlError> {
    let mut reader = Reader { text, at: 0, mark: Mark::default(), budget, lints: Vec::new() };
    let mut documents = Vec::new();
    let mut count = 0;
    loop {
        let before = reader.at;
        reader.skip_space();
        if reader.peek().is_none() {
            return Ok(documents);
        }
        let start = reader.position();
        match reader.value(1) {
            Ok((value, root)) => {
                count += 1;
                let lints = std::mem::take(&mut reader.lints);
                if !value.is_null() {
                    documents.push(Document { value, line: start.line, lints, root });
                }
            }
            Err(Failure::Refused(error)) => return Err(error),
            Err(Failure::Syntax(position)) if count > 1 || (count == 1 && text.len() - before < 4) => {
                let hint = "after a second JSON object the whole file must be JSON";
                return Err(YamlError::new(position, "not JSON", hint));
            }
            Err(Failure::Syntax(_)) => {
                let (rest, line) = behind_space(text, before);
                documents.extend(crate::read_yaml(rest, line, reader.budget)?);
                return Ok(documents);
            }
        }
    }
}

/// Skips white space up to the end of the line; returns what is left and the line it starts on.
fn behind_space(text: &str, at: usize) -> (&str, u64) {
    let rest = &text[at..];
    let first = rest.find(|c: char| c == '\n' || !c.is_whitespace()).unwrap_or(rest.len());
    let skip = if rest[first..].starts_with('\n') { first + 1 } else { first };
    (&rest[skip..], crate::stream::end_of(&text[..at + skip]).line)
}

enum Failure {
    /// Not JSON; it may still be YAML.
    Syntax(Position),
    /// JSON that is refused.
    Refused(YamlError),
}

impl From<YamlError> for Failure {
    fn from(error: YamlError) -> Self {
        Self::Refused(error)
    }
}

/// A known pair of offset and position, from which the next position is counted.
struct Mark {
    at: usize,
    position: Position,
}

impl Default for Mark {
    fn default() -> Self {
        Self { at: 0, position: Position { line: 1, column: 1 } }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    mark: Mark,
    budget: &'a mut Budget,
    lints: Vec<Lint>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn position(&mut self) -> Position {
        for character in self.text[self.mark.at..self.at].chars() {
            if character == '\n' {
                self.mark.position.line += 1;
                self.mark.position.column = 1;
            } else {
                self.mark.position.column += 1;
            }
        }
        self.mark.at = self.at;
        self.mark.position
    }

    fn syntax(&mut self) -> Failure {
        Failure::Syntax(self.position())
    }

    /// Takes a byte behind white space.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<(Value, Spot), Failure> {
        self.skip_space();
        let position = self.position();
        self.budget.node(position)?;
        let value = match self.peek() {
            Some(b'{') => return self.object(position, depth),
            Some(b'[') => return self.list(position, depth),
            Some(b'"') => Value::from(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number(position)?,
            _ => self.word()?,
        };
        Ok((value, Spot { position, children: Children::None }))
    }

    fn object(&mut self, position: Position, depth: usize) -> Result<(Value, Spot), Failure> {
        self.budget.depth(depth, position)?;
        self.at += 1;
        let (mut entries, mut spots) = (Map::new(), BTreeMap::<String, Spot>::new());
        let mut more = !self.take(b'}');
        while more {
            self.skip_space();
            let start = self.position();
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.syntax());
            }
            let (value, spot) = self.value(depth + 1)?;
            if let Some(first) = spots.get(&key) {
                return Err(frame::duplicate(&key, first.position, start).into());
            }
            spots.insert(key.clone(), Spot { position: start, children: spot.children });
            entries.insert(key, value);
            more = self.more(b'}')?;
        }
        Ok((Value::Object(entries), Spot { position, children: Children::Map(spots) }))
    }

    fn list(&mut self, position: Position, depth: usize) -> Result<(Value, Spot), Failure> {
        self.budget.depth(depth, position)?;
        self.at += 1;
        let (mut items, mut spots) = (Vec::new(), Vec::new());
        let mut more = !self.take(b']');
        while more {
            let (value, spot) = self.value(depth + 1)?;
            items.push(value);
            spots.push(spot);
            more = self.more(b']')?;
        }
        Ok((Value::Array(items), Spot { position, children: Children::List(spots) }))
    }

    /// Says whether another item follows, or the collection ends.
    fn more(&mut self, end: u8) -> Result<bool, Failure> {
        if self.take(b',') {
            Ok(true)
        } else if self.take(end) {
            Ok(false)
        } else {
            Err(self.syntax())
        }
    }

    fn string(&mut self) -> Result<String, Failure> {
        let position = self.position();
        let bytes = self.text.as_bytes();
        if self.peek() != Some(b'"') {
            return Err(Failure::Syntax(position));
        }
        let mut end = self.at + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(0x20..) => end += 1,
                _ => return Err(Failure::Syntax(position)),
            }
        }
        let token = &self.text[self.at..=end];
        self.at = end + 1;
        serde_json::from_str(token).map_err(|error| {
            // kubectl puts U+FFFD in the place of half a surrogate pair.
            if error.to_string().contains("hex escape") {
                let hint = "write both halves of the pair, or the character itself";
                Failure::Refused(YamlError::new(position, "half a surrogate pair", hint))
            } else {
                Failure::Syntax(position)
            }
        })
    }

    fn number(&mut self, position: Position) -> Result<Value, Failure> {
        let rest = &self.text[self.at..];
        let length =
            rest.find(|c| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let token = &rest[..length];
        self.at += length;
        match serde_json::from_str::<serde_json::Number>(token) {
            Ok(_) => {}
            Err(error) if error.to_string().contains("out of range") => {
                let hint = "put it in quotes if it is a text";
                return Err(YamlError::new(position, "a number that is too large", hint).into());
            }
            Err(_) => return Err(Failure::Syntax(position)),
        }
        let whole = token.parse::<i64>().ok();
        if whole.is_some_and(|value| value.unsigned_abs() > 1 << 53) {
            self.lints.push(Lint { position, text: HUGE.to_owned() });
        }
        let value = whole.map(Value::from).or_else(|| token.parse().ok().and_then(number::json_float));
        value.ok_or(Failure::Syntax(position))
    }

    fn word(&mut self) -> Result<Value, Failure> {
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.syntax())
    }
}
