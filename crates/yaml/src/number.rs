//! Numbers as Go reads and writes them.

use serde_json::{Number, Value};

/// What a plain scalar that looks like a number is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numeric {
    Int(i64),
    /// More than `i64` holds.
    Uint(u64),
    Float(f64),
}

/// Reads a scalar that starts with a digit or a sign: Go's base-0 integers once `_` is removed, else a decimal
/// float (go-yaml v2 `resolve`).
pub(crate) fn signed_or_digit(text: &str) -> Option<Numeric> {
    let plain = text.replace('_', "");
    integer(&plain).or_else(|| decimal(&plain).map(Numeric::Float)).or_else(|| binary(&plain))
}

/// Reads a scalar that starts with a dot: a float, with `_` between digits only.
pub(crate) fn dotted(text: &str) -> Option<Numeric> {
    let bytes = text.as_bytes();
    let digit = |index: Option<usize>| index.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let between_digits =
        bytes.iter().enumerate().all(|(i, b)| *b != b'_' || (digit(i.checked_sub(1)) && digit(Some(i + 1))));
    if between_digits { decimal(&text.replace('_', "")).map(Numeric::Float) } else { None }
}

/// `strconv.ParseInt` and then `ParseUint`, both with base 0.
fn integer(text: &str) -> Option<Numeric> {
    let unsigned = text.strip_prefix(['+', '-']);
    let magnitude = base0(unsigned.unwrap_or(text))?;
    let value = if text.starts_with('-') { -i128::from(magnitude) } else { i128::from(magnitude) };
    match i64::try_from(value) {
        Ok(value) => Some(Numeric::Int(value)),
        Err(_) if unsigned.is_none() => Some(Numeric::Uint(magnitude)),
        Err(_) => None,
    }
}

fn base0(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (&text[2..], 16),
        [b'0', b'o' | b'O', _, ..] => (&text[2..], 8),
        [b'0', b'b' | b'B', _, ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        u64::from_str_radix(digits, radix).ok()
    } else {
        None
    }
}

/// go-yaml tries `0b` once more by itself, and thereby reads `0b-1`.
fn binary(text: &str) -> Option<Numeric> {
    let digits = text.strip_prefix("0b")?;
    i64::from_str_radix(digits, 2).ok().map(Numeric::Int)
}

/// A decimal float in YAML's form; `None` also when it does not fit, which makes it a text.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) =
        unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mantissa = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    let exponent = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    if mantissa && exponent { text.parse::<f64>().ok().filter(|value| value.is_finite()) } else { None }
}

/// Returns the JSON number that is left after Go has written a float and read it again: whole numbers in `i64`'s
/// range become integers. `None` for infinities and NaN, which JSON cannot hold.
pub(crate) fn json_float(value: f64) -> Option<Value> {
    // Go writes whole floats below 1e21 without exponent, with the shortest digits and zeros behind them.
    let whole = if value.abs() < 1e21 { format!("{value}").parse::<i64>().ok() } else { None };
    whole.map(Number::from).or_else(|| Number::from_f64(value)).map(Value::Number)
}

/// Returns the JSON number for an integer that `i64` cannot hold.
pub(crate) fn json_uint(value: u64) -> Option<Value> {
    format!("{value}").parse().ok().and_then(json_float)
}

/// Writes a float that is a mapping's key: `strconv.FormatFloat(value, 'g', -1, 32)`, with YAML's words for
/// what is not finite (sigs.k8s.io/yaml).
pub(crate) fn float_key(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "keys are written with 32 bits")]
    let value = value as f32;
    if !value.is_finite() {
        return if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        }
        .to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_like_go() {
        let check = |value: f64, want: &str| assert_eq!(float_key(value), want);
        check(1000.0, "1000");
        check(1e6, "1e+06");
        check(1_234_567.0, "1.234567e+06");
        check(123_456.7, "123456.7");
        check(0.1, "0.1");
        check(0.00001, "1e-05");
        check(1e300, ".inf");
        check(-0.0, "-0");
        check(f64::NAN, ".nan");
    }
}
