//! A key whose signature counts.

use jiff::Timestamp;

use crate::home::Home;
use crate::keyring::KeyringError;

/// A key whose signature counts, with the file that holds it and the rules that limit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The primary key's fingerprint: 40 hex digits.
    pub fingerprint: String,
    /// Whose key it is, for reports.
    pub name: String,
    /// The armored public key: exactly this one.
    pub armored: Vec<u8>,
    /// Signatures made before do not count.
    pub not_before: Option<Timestamp>,
    /// Signatures made after do not count.
    pub not_after: Option<Timestamp>,
    /// The committer that commits signed by this key must name, such as `GitHub <noreply@github.com>`.
    pub committer: Option<String>,
    /// Whether a signature still counts after the key expired. It must have been made before the expiry and
    /// before [`Self::not_after`], which must be given. False by default, as in Flux.
    pub accept_expired: bool,
}

impl Pin {
    /// Returns a pin without limits.
    pub fn new(fingerprint: &str, name: &str, armored: &[u8]) -> Self {
        Self {
            fingerprint: fingerprint.to_owned(),
            name: name.to_owned(),
            armored: armored.to_vec(),
            not_before: None,
            not_after: None,
            committer: None,
            accept_expired: false,
        }
    }

    /// Pins every primary key that a file holds. Blocks on `gpg`.
    ///
    /// For commands that are given key files alone; an environment file names fingerprints.
    pub fn from_armored(bytes: &[u8], name: &str) -> Result<Vec<Self>, KeyringError> {
        let home = Home::create()?;
        home.import(name, bytes)?;
        let fingerprints = home.primary_fingerprints()?;
        if fingerprints.is_empty() {
            return Err(KeyringError::Empty);
        }
        fingerprints
            .into_iter()
            .map(|fingerprint| Ok(Self::new(&fingerprint, name, &home.export(&fingerprint)?)))
            .collect()
    }
}

/// What a keyring says about one of its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The primary key's fingerprint: 40 hex digits, upper case.
    pub fingerprint: String,
    /// Whose key it is.
    pub name: String,
    /// Signatures made before do not count.
    pub not_before: Option<Timestamp>,
    /// Signatures made after do not count.
    pub not_after: Option<Timestamp>,
    /// The committer that commits signed by this key must name.
    pub committer: Option<String>,
    /// Whether a signature still counts after the key expired.
    pub accept_expired: bool,
}
