//! Patterns of field paths, written as plans print paths.

use std::fmt;

use serde_json::Value;

use crate::FieldPath;
use crate::glob::fits;
use crate::pointer::Segment;

/// A field, or all fields of a form: `spec.replicas`, `spec.template.spec.containers[*].resources`,
/// `metadata.annotations["example.com/*"]`. It stands for the field and all that is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPattern {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A key, possibly with stars.
    Key(String),
    /// An item by some of its key fields, each as `name=web`.
    Item(Vec<String>),
    /// A position.
    Index(usize),
    /// Any item, or any key.
    Any,
}

/// Says why a text is no pattern of a field path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldPatternError {
    /// There is nothing.
    #[error("names no field")]
    Empty,
    /// A name is missing between two dots, or at the end.
    #[error("lacks a name between two dots or at its end")]
    NoName,
    /// A bracket is not closed.
    #[error("has a `[` that is not closed")]
    Open,
    /// What stands between brackets is not understood.
    #[error("has `[{0}]`, which is neither a position, an item such as `[name=web]`, a quoted key nor `[*]`")]
    Bracket(String),
}

impl FieldPattern {
    /// Reads a pattern. A leading dot and quoted values of items, as the API server writes them, are taken too.
    pub fn parse(text: &str) -> Result<Self, FieldPatternError> {
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        if rest.is_empty() {
            return Err(FieldPatternError::Empty);
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inner) if inner.starts_with('"') => quoted(inner)?,
                Some(inner) => bracket(inner)?,
                None => name(if steps.is_empty() { rest } else { rest.strip_prefix('.').unwrap_or(rest) })?,
            };
            steps.push(step);
            rest = after;
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    /// Says whether a field is the one that is meant, or lies below it.
    pub fn covers(&self, path: &FieldPath) -> bool {
        let segments = path.segments();
        self.steps.len() <= segments.len()
            && self.steps.iter().zip(segments).all(|(step, segment)| step.meets(segment))
    }

    /// Says whether all of another pattern's fields, which has no stars, are meant or lie below what is meant.
    pub fn meets(&self, other: &Self) -> bool {
        let key = |step: &Step| match step {
            Step::Key(key) => Some(key.clone()),
            _ => None,
        };
        let path = other.steps.iter().try_fold(FieldPath::root(), |path, step| Some(path.key(&key(step)?)));
        path.is_some_and(|path| self.covers(&path))
    }

    /// Returns the places in an object that are meant, list items by position.
    pub fn places(&self, object: &Value) -> Vec<FieldPath> {
        let mut places = vec![(FieldPath::root(), object)];
        for step in &self.steps {
            places = places.iter().flat_map(|(path, value)| step.below(path, value)).collect();
        }
        places.into_iter().map(|(path, _)| path).collect()
    }
}

impl Step {
    fn meets(&self, segment: &Segment) -> bool {
        match (self, segment) {
            (Self::Any, _) => true,
            (Self::Key(pattern), Segment::Key(key)) => fits(pattern, key),
            (Self::Index(index), Segment::Index(other)) => index == other,
            (Self::Item(wanted), Segment::Item(keys)) => {
                wanted.iter().all(|want| keys.split(',').any(|key| fits(want, key)))
            }
            _ => false,
        }
    }

    fn below<'a>(&self, path: &FieldPath, value: &'a Value) -> Vec<(FieldPath, &'a Value)> {
        match value {
            Value::Object(map) => {
                let meant = map.iter().filter(|(key, _)| self.meets(&Segment::Key((*key).clone())));
                meant.map(|(key, below)| (path.key(key), below)).collect()
            }
            Value::Array(list) => {
                let meant = list.iter().enumerate().filter(|(index, item)| self.means(*index, item));
                meant.map(|(index, below)| (path.index(index), below)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn means(&self, index: usize, item: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Index(wanted) => *wanted == index,
            Self::Item(wanted) => wanted.iter().all(|want| has(item, want)),
            Self::Key(_) => false,
        }
    }
}

/// Says whether an item has the field and value of `name=web`; `=web` means the item itself.
fn has(item: &Value, want: &str) -> bool {
    let (key, pattern) = want.split_once('=').unwrap_or((want, ""));
    let found = if key.is_empty() { Some(item) } else { item.get(key) };
    match found {
        Some(Value::String(text)) => fits(pattern, text),
        Some(Value::Number(number)) => fits(pattern, &number.to_string()),
        _ => false,
    }
}

fn name(rest: &str) -> Result<(Step, &str), FieldPatternError> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if name.is_empty() || after == "." {
        Err(FieldPatternError::NoName)
    } else {
        Ok((Step::Key(name.to_owned()), after))
    }
}

/// Reads a key in quotes, of which a backslash keeps the next character as it is.
fn quoted(inner: &str) -> Result<(Step, &str), FieldPatternError> {
    let mut key = String::new();
    let mut characters = inner.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => key.extend(characters.next().map(|(_, next)| next)),
            '"' => {
                let after = inner.get(at + 1..).and_then(|rest| rest.strip_prefix(']'));
                return after.map(|after| (Step::Key(key), after)).ok_or(FieldPatternError::Open);
            }
            other => key.push(other),
        }
    }
    Err(FieldPatternError::Open)
}

fn bracket(inner: &str) -> Result<(Step, &str), FieldPatternError> {
    let (text, after) = inner.split_once(']').ok_or(FieldPatternError::Open)?;
    let step = if text == "*" {
        Step::Any
    } else if let Ok(index) = text.parse() {
        Step::Index(index)
    } else if !text.is_empty() && text.split(',').all(|part| part.contains('=')) {
        Step::Item(text.split(',').map(|part| part.replace('"', "")).collect())
    } else {
        return Err(FieldPatternError::Bracket(text.to_owned()));
    };
    Ok((step, after))
}

impl fmt::Display for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn covers(pattern: &str, path: &FieldPath) -> bool {
        FieldPattern::parse(pattern).unwrap().covers(path)
    }

    #[test]
    fn a_pattern_means_what_a_plan_prints() {
        let container = FieldPath::root().key("spec").key("containers").item("name=web");
        let label = FieldPath::root().key("metadata").key("labels").key("app.kubernetes.io/name");
        let port = FieldPath::root().key("ports").item("containerPort=80,protocol=TCP");
        for path in [&container, &label, &port, &container.key("args").index(2)] {
            assert!(covers(&path.to_string(), path), "{path}");
        }
        for (pattern, path, want) in [
            ("spec", &container, true),
            (".spec.containers[name=\"web\"]", &container, true),
            ("spec.containers[*].image", &container.key("image"), true),
            ("spec.containers[name=w*]", &container, true),
            ("spec.containers[name=w]", &container, false),
            ("spec.containers[*].image", &container, false),
            ("spec.contain", &container, false),
            ("metadata.labels[\"app.kubernetes.io/*\"]", &label, true),
            ("metadata.labels.*", &label, true),
            ("metadata.annotations", &label, false),
            ("ports[protocol=TCP]", &port, true),
            ("ports[0]", &port, false),
        ] {
            assert_eq!(covers(pattern, path), want, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_pattern() {
        for (text, want) in [
            ("", "names no field"),
            ("spec..a", "lacks a name"),
            ("spec.", "lacks a name"),
            ("spec[name=a", "not closed"),
            ("spec[\"a", "not closed"),
            ("spec[web]", "neither a position"),
        ] {
            let error = FieldPattern::parse(text).unwrap_err().to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }

    #[test]
    fn places_in_an_object() {
        let object = json!({"spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}],
            "args": ["x", "y"]}, "metadata": {"annotations": {"e.com/a": "1", "b": "2"}}});
        let check = |pattern: &str, want: &[&str]| {
            let got = FieldPattern::parse(pattern).unwrap().places(&object);
            assert_eq!(got.iter().map(ToString::to_string).collect::<Vec<_>>(), want, "{pattern}");
        };
        check("spec.ports[name=b].port", &["spec.ports[1].port"]);
        check("spec.ports[*]", &["spec.ports[0]", "spec.ports[1]"]);
        check("spec.ports[port=2]", &["spec.ports[1]"]);
        check("spec.args[=y]", &["spec.args[1]"]);
        check("metadata.annotations[\"e.com/*\"]", &["metadata.annotations[\"e.com/a\"]"]);
        check("spec.nothing", &[]);
    }
}
