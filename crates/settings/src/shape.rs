//! Checks a file's form against its schema and reports every difference.

use serde_json::Value;

use crate::Duration;
use crate::error::{Mistake, SettingsError};
use crate::schema::{Property, Schema, Shape};
use crate::tree::{Entry, Kind, Node, quoted};

/// Returns every place at which the file differs in form from what the schema describes.
pub(crate) fn check(root: &Node, schema: &Value, file: &str) -> Vec<SettingsError> {
    let mut walk = Walk { file, errors: Vec::new() };
    walk.value(root, Schema::new(schema), "");
    walk.errors
}

struct Walk<'a> {
    file: &'a str,
    errors: Vec<SettingsError>,
}

impl Walk<'_> {
    fn value(&mut self, node: &Node, schema: Schema<'_>, path: &str) {
        match (&node.kind, schema.shape()) {
            (_, Shape::Any) | (Kind::Bool(_), Shape::Bool) | (Kind::Text(_), Shape::Text) => {}
            (Kind::Null, _) if schema.nullable() => {}
            (Kind::Map(entries), Shape::Map(properties)) => self.map(node, entries, &properties, path),
            (Kind::List(items), Shape::List(schema)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, schema, &format!("{path}[{index}]"));
                }
            }
            (Kind::Text(text), Shape::Choice(choices)) if choices.iter().any(|(word, _)| word == text) => {}
            (Kind::Text(text), Shape::Duration) if text.parse::<Duration>().is_ok() => {}
            (Kind::Number(number), Shape::Integer { min, max })
                if number.as_u64().is_some_and(|n| n >= min && max.is_none_or(|max| n <= max)) => {}
            (_, shape) => {
                let hint = hint(node, &shape, schema.description());
                let found = match (&node.kind, &shape) {
                    // In quotes, `true` and `1` look like what was expected.
                    (Kind::Text(text), Shape::Bool | Shape::Integer { .. }) => {
                        format!("the text {}", quoted(text))
                    }
                    _ => node.found(),
                };
                let mistake = Mistake::Value { expected: expected(&shape), found, hint };
                self.report(node.line, node.column, path, mistake);
            }
        }
    }

    fn map(&mut self, node: &Node, entries: &[Entry], properties: &[Property<'_>], path: &str) {
        let mut misspelt = Vec::new();
        for entry in entries {
            if let Some(property) = properties.iter().find(|property| property.name == entry.key) {
                self.value(&entry.value, property.schema, &join(path, &entry.key));
                continue;
            }
            let near = nearest(&entry.key, properties.iter().map(|property| property.name));
            misspelt.extend(near);
            let near = near.map(str::to_owned);
            let known: Vec<String> = properties.iter().map(|property| property.name.to_owned()).collect();
            let mistake = Mistake::UnknownKey { key: entry.key.clone(), near, known };
            self.report(entry.line, entry.column, path, mistake);
        }
        for property in properties.iter().filter(|property| property.required) {
            // A key that was reported as misspelt is not missing as well.
            if !entries.iter().any(|entry| entry.key == property.name) && !misspelt.contains(&property.name) {
                let meaning = first_sentence(property.schema.description());
                let mistake = Mistake::MissingKey { key: property.name.to_owned(), meaning };
                self.report(node.line, node.column, path, mistake);
            }
        }
    }

    fn report(&mut self, line: u64, column: u64, path: &str, mistake: Mistake) {
        self.errors.push(SettingsError {
            file: self.file.to_owned(),
            line,
            column,
            path: path.to_owned(),
            mistake,
        });
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn expected(shape: &Shape<'_>) -> String {
    match shape {
        Shape::Map(_) => "a mapping".to_owned(),
        Shape::List(_) => "a list".to_owned(),
        Shape::Choice(choices) => {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
            format!("one of {}", words.join(", "))
        }
        Shape::Duration => "a duration such as `90s`, `10m` or `1h30m`".to_owned(),
        Shape::Text => "a text".to_owned(),
        Shape::Integer { min, max: Some(max) } => format!("a whole number from {min} to {max}"),
        Shape::Integer { min, max: None } => format!("a whole number from {min}"),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Any => "a value".to_owned(),
    }
}

fn hint(node: &Node, shape: &Shape<'_>, description: &str) -> String {
    match (&node.kind, shape) {
        (Kind::Null, _) => "give a value, or remove the key".to_owned(),
        (Kind::Number(number), Shape::Duration) => format!("add a unit: `{number}s` or `{number}m`"),
        (Kind::Number(_) | Kind::Bool(_), Shape::Text) => "put the value in quotes".to_owned(),
        (Kind::Text(text), Shape::Choice(choices)) => {
            match nearest(text, choices.iter().map(|(word, _)| *word)) {
                Some(word) => format!("did you mean `{word}`?"),
                None => first_sentence(description),
            }
        }
        (Kind::Text(_), Shape::Bool) => "write `true` or `false` without quotes".to_owned(),
        (Kind::Text(text), Shape::Integer { .. }) if text.parse::<u64>().is_ok() => {
            "remove the quotes".to_owned()
        }
        (Kind::Map(_) | Kind::Text(_) | Kind::Number(_) | Kind::Bool(_), Shape::List(_)) => {
            "write a list: every item on its own line, after `- `".to_owned()
        }
        _ => first_sentence(description),
    }
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text, |(first, _)| first).replace('\n', " ").trim_end_matches('.').to_owned()
}

/// Returns the candidate that a typing error would most likely have turned into `word`.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, c)| c)
}
