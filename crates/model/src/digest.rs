//! SHA-256 digests and canonical JSON.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written as `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^sha256:[0-9a-f]{64}$"))]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes the canonical form of a JSON value, see [`canonical_json`].
    pub fn of_json(value: &Value) -> Self {
        Self::of_bytes(canonical_json(value).as_bytes())
    }

    /// Returns the first 12 hex digits, enough for people to compare.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..6])
    }

    /// Returns all 64 hex digits.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }
}

/// Hashes what is too large to be held in one piece. Where a part ends matters.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes.len().to_le_bytes());
        self.0.update(bytes);
    }

    /// Takes the canonical form of a JSON value in, see [`canonical_json`].
    pub fn json(&mut self, value: &Value) {
        self.bytes(canonical_json(value).as_bytes());
    }

    /// Returns the digest of everything that was taken in.
    pub fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Says that a text is not `sha256:` followed by 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: expected `sha256:` and 64 hex digits")]
pub struct DigestError(String);

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let fail = || DigestError(text.to_owned());
        let digits = text.strip_prefix("sha256:").ok_or_else(fail)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| fail())?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Writes a JSON value in one canonical way: keys sorted bytewise, no white space, floats that are whole
/// numbers as integers.
///
/// Two values that Kubernetes treats as equal numbers (`1` and `1.0`) get the same text, so a digest does
/// not depend on who serialised the value.
pub fn canonical_json(value: &Value) -> String {
    let mut out = Vec::new();
    write_canonical(value, &mut out);
    // JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_plain(key, out);
                out.push(b':');
                write_canonical(value, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_canonical(item, out);
            }
            out.push(b']');
        }
        Value::Number(number) => out.extend(canonical_number(number).as_bytes()),
        Value::Null | Value::Bool(_) | Value::String(_) => write_plain(value, out),
    }
}

fn write_plain(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing into memory never fails.
    serde_json::to_writer(out, value).ok();
}

fn canonical_number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        // Whole floats inside the range that f64 holds exactly; the cast cannot lose anything there.
        #[expect(clippy::cast_possible_truncation, reason = "bounded by 2^53")]
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => {
            (float as i64).to_string()
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_form() {
        let check = |value: Value, want: &str| assert_eq!(canonical_json(&value), want);
        check(json!({"b": 1, "a": [true, null, "x\n"]}), r#"{"a":[true,null,"x\n"],"b":1}"#);
        check(json!(1.0), "1");
        check(json!(1.5), "1.5");
        check(json!(-0.0), "0");
        check(json!(18_446_744_073_709_551_615_u64), "18446744073709551615");
        check(json!({"é": "ü"}), r#"{"é":"ü"}"#);
    }

    #[test]
    fn parts_and_their_borders_count() {
        let of = |parts: &[&str]| {
            let mut hasher = Hasher::default();
            for part in parts {
                hasher.bytes(part.as_bytes());
            }
            hasher.digest()
        };
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert!(of(&["a", "b"]) != of(&["ab"]) && of(&["ab", ""]) != of(&["a", "b"]));
    }

    #[test]
    fn text_form_round_trips() {
        let digest = Digest::of_bytes(b"");
        assert_eq!(digest.short(), "e3b0c44298fc");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in ["", "sha256:", "sha256:zz", &digest.hex(), "sha1:e3b0c44298fc"] {
            assert!(bad.parse::<Digest>().is_err(), "{bad} must be refused");
        }
    }
}
