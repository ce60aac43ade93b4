//! Fingerprints of questions.

use serde::{Deserialize, Serialize};
use windlass_model::Hasher;

/// The first 128 bits of a salted SHA-256, in hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Fingerprint(String);

impl Fingerprint {
    /// Takes the fingerprint of several parts. Where one ends and the next begins matters.
    pub(crate) fn of(salt: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::default();
        hasher.bytes(salt.as_bytes());
        for part in parts {
            hasher.bytes(part);
        }
        let mut hex = hasher.digest().hex();
        hex.truncate(32);
        Self(hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn salt_parts_and_their_borders_count() {
        let all = [
            Fingerprint::of("a", &[b"ab", b"c"]),
            Fingerprint::of("b", &[b"ab", b"c"]),
            Fingerprint::of("a", &[b"a", b"bc"]),
            Fingerprint::of("a", &[b"abc"]),
            Fingerprint::of("a", &[b"abc", b""]),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(all[0], Fingerprint::of("a", &[b"ab", b"c"]));
    }
}
