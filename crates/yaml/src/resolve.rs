//! What a scalar is: the resolution rules of YAML 1.1 as go-yaml v2 has them.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::number::{self, Numeric};

/// Go's `base64.StdEncoding`: padded, and lenient about the bits behind the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// A scalar once its type is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
}

/// The tags that change how a scalar is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Untagged,
    Text,
    Bool,
    Int,
    Float,
    Null,
    Binary,
    Timestamp,
    Merge,
    /// Any other tag: it is dropped, and the scalar is a text.
    Other,
}

impl Kind {
    pub(crate) fn of(tag: Option<&str>) -> Self {
        let Some(tag) = tag.filter(|tag| !tag.is_empty()) else { return Self::Untagged };
        match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("str") => Self::Text,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("binary") => Self::Binary,
            Some("timestamp") => Self::Timestamp,
            Some("merge") => Self::Merge,
            _ => Self::Other,
        }
    }
}

/// Finds out what a scalar is; `plain` says that it is neither quoted nor a block.
///
/// The error says what is wrong without repeating the text.
pub(crate) fn scalar(text: &str, plain: bool, kind: Kind) -> Result<Scalar, &'static str> {
    match kind {
        Kind::Untagged if plain => Ok(untagged(text)),
        Kind::Untagged | Kind::Text | Kind::Merge | Kind::Other => Ok(Scalar::Text(text.to_owned())),
        Kind::Binary => binary(text),
        Kind::Timestamp if is_timestamp(text) => Ok(Scalar::Text(text.to_owned())),
        Kind::Timestamp => Err("a `!!timestamp` that is not a timestamp"),
        Kind::Null => {
            as_tagged(text, "a `!!null` that is not null", |s| matches!(s, Scalar::Null).then_some(s))
        }
        Kind::Bool => {
            as_tagged(text, "a `!!bool` that is not a boolean", |s| matches!(s, Scalar::Bool(_)).then_some(s))
        }
        Kind::Int => as_tagged(text, "an `!!int` that is not an integer", |s| {
            matches!(s, Scalar::Int(_) | Scalar::Uint(_)).then_some(s)
        }),
        Kind::Float => as_tagged(text, "a `!!float` that is not a float", |s| match s {
            #[expect(clippy::cast_precision_loss, reason = "go-yaml converts the same way")]
            Scalar::Int(value) => Some(Scalar::Float(value as f64)),
            Scalar::Float(_) => Some(s),
            _ => None,
        }),
    }
}

fn as_tagged(
    text: &str,
    problem: &'static str,
    accept: impl Fn(Scalar) -> Option<Scalar>,
) -> Result<Scalar, &'static str> {
    accept(untagged(text)).ok_or(problem)
}

fn untagged(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            return Scalar::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => number::signed_or_digit(text),
        Some(b'.') => number::dotted(text),
        _ => None,
    };
    match number {
        Some(Numeric::Int(value)) => Scalar::Int(value),
        Some(Numeric::Uint(value)) => Scalar::Uint(value),
        Some(Numeric::Float(value)) => Scalar::Float(value),
        None => Scalar::Text(text.to_owned()),
    }
}

fn binary(text: &str) -> Result<Scalar, &'static str> {
    let packed: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = BASE64.decode(packed).map_err(|_| "a `!!binary` that is not base64")?;
    // kubectl puts U+FFFD in the place of bytes that are no text.
    String::from_utf8(bytes).map(Scalar::Text).map_err(|_| "a `!!binary` that holds bytes which are no text")
}

/// Says whether go-yaml takes a text for a timestamp: a date with a four-digit year, alone or with a time.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        None => (text, None),
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
    };
    is_date(date) && time.is_none_or(|(separator, time)| is_time(time, separator != " "))
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let Some((year, month, day)) = digits(year, 4, 4)
        .zip(digits(month, 1, 2))
        .zip(digits(day, 1, 2))
        .map(|((year, month), day)| (year, month, day))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str, zoned: bool) -> bool {
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    let zone_fits = match zone {
        None => !zoned,
        Some("Z") => zoned,
        Some(offset) => {
            zoned && offset[1..].split_once(':').is_some_and(|(h, m)| within(h, 2, 24) && within(m, 2, 60))
        }
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let (second, fraction) = second.split_once('.').map_or((second, None), |(s, f)| (s, Some(f)));
    zone_fits
        && digits(hour, 1, 2).is_some_and(|hour| hour < 24)
        && within(minute, 1, 59)
        && within(second, 1, 59)
        && fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()))
}

fn within(text: &str, min: usize, max: u32) -> bool {
    digits(text, min, 2).is_some_and(|value| value <= max)
}

fn digits(text: &str, min: usize, max: usize) -> Option<u32> {
    let legal = (min..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if legal { text.parse().ok() } else { None }
}

impl Scalar {
    /// Returns the JSON value; `None` for infinities and NaN.
    pub(crate) fn to_json(&self) -> Option<Value> {
        match self {
            Self::Null => Some(Value::Null),
            Self::Bool(value) => Some(Value::from(*value)),
            Self::Int(value) => Some(Value::from(*value)),
            Self::Uint(value) => number::json_uint(*value),
            Self::Float(value) => number::json_float(*value),
            Self::Text(value) => Some(Value::from(value.as_str())),
        }
    }

    /// Returns the scalar as a key of a JSON object; `None` where `kubectl` refuses it.
    pub(crate) fn to_key(&self) -> Option<String> {
        match self {
            Self::Null | Self::Uint(_) => None,
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.to_string()),
            Self::Float(value) => Some(number::float_key(*value)),
            Self::Text(value) => Some(value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let check = |text: &str, want: bool| assert_eq!(is_timestamp(text), want, "{text}");
        for text in [
            "2001-01-01",
            "2001-1-2",
            "2024-02-29",
            "2001-01-01T01:02:03Z",
            "2001-01-01t1:2:3.5+01:00",
            "2001-01-01 01:02:03.25",
        ] {
            check(text, true);
        }
        for text in [
            "",
            "01-01-01",
            "2001-13-01",
            "2023-02-29",
            "2001-01-01T01:02:03",
            "2001-01-01 01:02:03Z",
            "2001-01-01 24:00:00",
            "2001-01-01T01:02Z",
            "20010101",
        ] {
            check(text, false);
        }
    }
}
