//! The set of pinned keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::home::{Home, is_fingerprint};
use crate::pin::{Pin, Pinned};

/// The pinned keys, imported into a throw-away home. Clones share the home; the last one removes it.
#[derive(Debug, Clone)]
pub struct Keyring {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    home: Home,
    pins: BTreeMap<String, Pinned>,
}

/// Says why pinned keys cannot be used. The stable code of the mismatches is `keyring-mismatch`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// No key is pinned: nothing could ever be verified.
    #[error("no key is pinned")]
    Empty,
    /// A fingerprint is not one.
    #[error("the fingerprint of key `{name}` is not 40 hex digits")]
    BadFingerprint {
        /// The pin's name.
        name: String,
    },
    /// Two pins name the same key.
    #[error("key {fingerprint} is pinned twice")]
    Duplicate {
        /// The fingerprint.
        fingerprint: String,
    },
    /// The file holds another key, or none.
    #[error("the file of key `{name}` does not hold {fingerprint}")]
    Missing {
        /// The pin's name.
        name: String,
        /// The pinned fingerprint.
        fingerprint: String,
    },
    /// The file holds more than the pinned key.
    #[error("the file of key `{name}` holds more than the pinned key{}", list(.extra))]
    Extra {
        /// The pin's name.
        name: String,
        /// Fingerprints that are not pinned by this entry; empty when the file repeats a key.
        extra: Vec<String>,
    },
    /// The file holds a private key.
    #[error("the file of key `{name}` holds a private key")]
    Private {
        /// The pin's name.
        name: String,
    },
    /// The key is of a version that is not supported.
    #[error("key `{fingerprint}` is not a version 4 OpenPGP key")]
    Unsupported {
        /// What GnuPG calls its fingerprint.
        fingerprint: String,
    },
    /// A rule of a pin contradicts itself.
    #[error("key `{name}`: {problem}")]
    Rule {
        /// The pin's name.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The throw-away home cannot be made.
    #[error("a temporary directory for the pinned keys cannot be made")]
    Home(#[source] std::io::Error),
    /// GnuPG does not work.
    #[error("gpg failed")]
    Engine(#[from] gpgme::Error),
}

fn list(extra: &[String]) -> String {
    if extra.is_empty() { String::new() } else { format!(": {}", extra.join(", ")) }
}

impl KeyringError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Home(_) | Self::Engine(_) => "engine-failed",
            _ => "keyring-mismatch",
        }
    }

    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "pin at least one key",
            Self::BadFingerprint { .. } => {
                "give the full fingerprint that `gpg --show-keys FILE` prints, without spaces"
            }
            Self::Duplicate { .. } => "remove one of the two entries",
            Self::Missing { .. } => "compare the pinned fingerprint with what `gpg --show-keys FILE` prints",
            Self::Extra { .. } => {
                "split the file: one file a key, exported with `gpg --armor --export FINGERPRINT`"
            }
            Self::Private { .. } => {
                "remove the private key from the file, treat it as leaked, and export the public one with \
                 `gpg --armor --export FINGERPRINT`"
            }
            Self::Unsupported { .. } => "use a version 4 key",
            Self::Rule { .. } => "correct the entry",
            Self::Home(_) => "check that the directory for temporary files exists, is writable and has room",
            Self::Engine(_) => "check that gpg is installed; on Debian: apt-get install gpg",
        }
    }

    /// Says whether the machine is at fault and not what was pinned.
    pub fn is_infrastructure(&self) -> bool {
        matches!(self, Self::Home(_) | Self::Engine(_))
    }
}

impl Keyring {
    /// Imports the pinned keys; each file must hold exactly the key that its pin names. Blocks on `gpg`.
    pub fn new(pins: Vec<Pin>) -> Result<Self, KeyringError> {
        if pins.is_empty() {
            return Err(KeyringError::Empty);
        }
        let home = Home::create()?;
        let mut known: BTreeMap<String, Pinned> = BTreeMap::new();
        for pin in pins {
            let pinned = checked(&pin)?;
            if known.contains_key(&pinned.fingerprint) {
                return Err(KeyringError::Duplicate { fingerprint: pinned.fingerprint });
            }
            let held = home.import(&pin.name, &pin.armored)?;
            let present = home.primary_fingerprints()?;
            known.insert(pinned.fingerprint.clone(), pinned.clone());
            demand_exactly(&pinned, held, &present, &known)?;
        }
        Ok(Self { inner: Arc::new(Inner { home, pins: known }) })
    }

    /// Returns the pinned keys, sorted by fingerprint.
    pub fn pins(&self) -> impl Iterator<Item = &Pinned> {
        self.inner.pins.values()
    }

    pub(crate) fn home(&self) -> &Home {
        &self.inner.home
    }

    pub(crate) fn pin(&self, fingerprint: &str) -> Option<&Pinned> {
        self.inner.pins.get(fingerprint)
    }
}

/// Checks what can be checked without GnuPG.
fn checked(pin: &Pin) -> Result<Pinned, KeyringError> {
    if !is_fingerprint(&pin.fingerprint) {
        return Err(KeyringError::BadFingerprint { name: pin.name.clone() });
    }
    let rule = |problem| Err(KeyringError::Rule { name: pin.name.clone(), problem });
    if pin.not_before.zip(pin.not_after).is_some_and(|(from, until)| from > until) {
        return rule("it stops counting before it starts to");
    }
    if pin.accept_expired && pin.not_after.is_none() {
        return rule("accepting signatures of an expired key needs the day after which they do not count");
    }
    Ok(Pinned {
        fingerprint: pin.fingerprint.to_ascii_uppercase(),
        name: pin.name.clone(),
        not_before: pin.not_before,
        not_after: pin.not_after,
        committer: pin.committer.clone(),
        accept_expired: pin.accept_expired,
    })
}

/// Demands that the file just imported held its pinned key once and nothing else.
fn demand_exactly(
    pinned: &Pinned,
    held: u32,
    present: &BTreeSet<String>,
    known: &BTreeMap<String, Pinned>,
) -> Result<(), KeyringError> {
    let name = pinned.name.clone();
    if !present.contains(&pinned.fingerprint) {
        return Err(KeyringError::Missing { name, fingerprint: pinned.fingerprint.clone() });
    }
    let extra: Vec<String> = present.iter().filter(|key| !known.contains_key(*key)).cloned().collect();
    if held == 1 && extra.is_empty() { Ok(()) } else { Err(KeyringError::Extra { name, extra }) }
}
