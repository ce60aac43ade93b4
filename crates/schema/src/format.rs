//! Formats of texts that the server checks (go-openapi `strfmt`, the list in apiextensions'
//! `pkg/apiserver/validation/formats.go`). Others it ignores.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Ipv4,
    Ipv6,
    Cidr,
    Uuid,
    Byte,
    Date,
    DateTime,
    Duration,
    /// The server checks it, and this crate does not.
    Other(&'static str),
}

/// Formats that are only named: what they mean is a library's matter, and no definition of the corpus uses them.
const OTHERS: [&str; 16] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "mac",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "k8s-short-name",
];

impl Format {
    /// Returns the format of a name, if the server checks it.
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "cidr" => Self::Cidr,
            "uuid" => Self::Uuid,
            "byte" => Self::Byte,
            "date" => Self::Date,
            "date-time" | "datetime" => Self::DateTime,
            "duration" => Self::Duration,
            other => Self::Other(OTHERS.into_iter().chain(["k8s-long-name"]).find(|known| *known == other)?),
        })
    }

    pub(crate) fn check(self, text: &str, path: &FieldPath, findings: &mut Findings) {
        let (fits, name) = match self {
            Self::Ipv4 => (text.parse::<Ipv4Addr>().is_ok(), "an IPv4 address"),
            Self::Ipv6 => (text.parse::<Ipv6Addr>().is_ok(), "an IPv6 address"),
            Self::Cidr => (is_cidr(text), "an address range (CIDR)"),
            Self::Uuid => (is_uuid(text), "a UUID"),
            Self::Byte => (STANDARD.decode(text).is_ok(), "base64"),
            Self::Date => (text.parse::<Date>().is_ok() && text.len() == 10, "a date"),
            Self::DateTime => (text.parse::<jiff::Timestamp>().is_ok(), "a date with time"),
            Self::Duration => (duration(text).is_some(), "a duration"),
            Self::Other(name) => {
                findings.unchecked(path, format!("the format `{name}` was not checked locally"));
                return;
            }
        };
        if !fits {
            findings.flaw(path, FlawKind::Value, format!("is not {name}"));
        }
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(bits) = bits.parse::<u8>() else { return false };
    address.parse::<Ipv4Addr>().is_ok() && bits <= 32 || address.parse::<Ipv6Addr>().is_ok() && bits <= 128
}

/// The hyphens are optional.
fn is_uuid(text: &str) -> bool {
    let digits: String = text.split('-').collect();
    let hyphens = [None, Some(8), Some(13), Some(18), Some(23)];
    let placed = text.match_indices('-').all(|(index, _)| hyphens.contains(&Some(index)));
    digits.len() == 32 && placed && digits.chars().all(|c| c.is_ascii_hexdigit())
}

/// Reads a duration as Go writes it, `1h30m` or `-1.5s`, in nanoseconds.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let (unit, length) = unit(after)?;
        total = total.checked_add(scaled(number, unit)?)?;
        rest = after.get(length..)?;
    }
    Some(if negative { -total } else { total })
}

fn unit(text: &str) -> Option<(i64, usize)> {
    const UNITS: [(&str, i64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    UNITS.iter().find(|(name, _)| text.starts_with(name)).map(|(name, unit)| (*unit, name.len()))
}

/// Multiplies a decimal number such as `1.5` without leaving whole numbers.
fn scaled(number: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut total = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.checked_mul(unit)? };
    let mut share = unit;
    for digit in fraction.chars() {
        share /= 10;
        total = total.checked_add(share * i64::from(digit.to_digit(10)?))?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, want) in [
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("10ms", Some(10_000_000)),
            ("1µs", Some(1_000)),
            (".5s", Some(500_000_000)),
            ("0", Some(0)),
            ("", None),
            ("5", None),
            ("1d", None),
            (".s", None),
            ("9999999999h", None),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
    }
}
