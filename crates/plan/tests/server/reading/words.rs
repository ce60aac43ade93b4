//! What a body declares, and which of its values are other words for the same.

use serde_json::Value;
use windlass_model::{Segment, is_zero};

/// Says whether a body declares a value at a path; positions in lists are those of the body.
pub(super) fn declares(body: &Value, path: &[Segment]) -> bool {
    let [first, below @ ..] = path else { return !body.is_null() };
    match (first, body) {
        (Segment::Key(key), Value::Object(map)) => map.get(key).is_some_and(|value| declares(value, below)),
        (Segment::Index(index), Value::Array(list)) => {
            list.get(*index).is_some_and(|item| declares(item, below))
        }
        (Segment::Item(keys), Value::Array(list)) => {
            list.iter().any(|item| is_named(item, keys) && declares(item, below))
        }
        _ => false,
    }
}

/// Says whether an item has the keys of its name (`name=web`); a key that it leaves out has its default.
fn is_named(item: &Value, keys: &str) -> bool {
    keys.split(',').all(|part| {
        let (key, want) = part.split_once('=').unwrap();
        item.get(key)
            .is_none_or(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned) == want)
    })
}

/// Says whether a value has every field of another, with the same values or other words for them.
pub(super) fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(key, value)| match whole.get(key) {
            Some(whole) => holds(whole, value),
            None => is_zero(value),
        }),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (whole, part) => whole == part || is_respelt(Some(whole), Some(part)),
    }
}

/// Says whether two values are other words for the same: two spellings of a quantity, or nothing and a value that the
/// server does not store.
pub(super) fn is_respelt(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            matches!((amount(one), amount(other)), (Some(one), Some(other)) if f64::abs(one - other) < 0.0005)
        }
        (None, Some(value)) | (Some(value), None) => is_zero(value),
        (None, None) => false,
    }
}

/// Returns a quantity, for the suffixes that these tests use.
fn amount(value: &Value) -> Option<f64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let factor = match suffix {
        "m" => 0.001,
        "" => 1.0,
        "k" => 1e3,
        "Mi" => f64::from(1 << 20),
        "Gi" => f64::from(1 << 30),
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * factor)
}
