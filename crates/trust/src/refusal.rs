//! Why a signature does not count.

use jiff::Timestamp;

/// Says why a signature does not count: a refusal, never a passing fault of the machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureRefusal {
    /// The bytes are not one well-formed armored signature.
    #[error("the signature is malformed: {0}")]
    Malformed(&'static str),
    /// The signature is of a kind that does not count.
    #[error("the signature is {what}, which is not supported")]
    UnsupportedFormat {
        /// The kind.
        what: String,
    },
    /// There is more than one signature.
    #[error("there is more than one signature")]
    Multiple,
    /// The signature does not fit the signed bytes.
    #[error("the signature does not fit the signed bytes")]
    Bad,
    /// No pinned key made the signature.
    #[error("the signature was made by a key that is not pinned (it names key {key_id})")]
    UnknownKey {
        /// The key id or fingerprint that the signature names, unproven; `unknown` if it names none.
        key_id: String,
    },
    /// The key expired, or the signature was made after the day until which the key counts.
    #[error("key `{name}` ({fingerprint}) had expired: {reason}")]
    KeyExpired {
        /// The primary key's fingerprint.
        fingerprint: String,
        /// The pin's name.
        name: String,
        /// Which rule says so.
        reason: String,
    },
    /// The signature was made before the day from which the key counts.
    #[error("key `{name}` ({fingerprint}) does not count yet: signed {signed_at}, pinned from {not_before}")]
    KeyNotYetValid {
        /// The primary key's fingerprint.
        fingerprint: String,
        /// The pin's name.
        name: String,
        /// When the signature says it was made.
        signed_at: Timestamp,
        /// From when the key counts.
        not_before: Timestamp,
    },
    /// The key was revoked.
    #[error("the key that made the signature is revoked")]
    KeyRevoked,
    /// The signature has an expiry of its own, which has passed.
    #[error("the signature has expired")]
    SignatureExpired,
    /// The digest algorithm can be forged.
    #[error("the signature uses the weak digest {digest}")]
    WeakDigest {
        /// The digest's name.
        digest: String,
    },
    /// The signature is dated in the future.
    #[error("the signature is dated {signed_at}, which is in the future (now: {now})")]
    Future {
        /// When the signature says it was made.
        signed_at: Timestamp,
        /// The time it was compared with.
        now: Timestamp,
    },
}

impl SignatureRefusal {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed-signature",
            Self::UnsupportedFormat { .. } => "unsupported-format",
            Self::Multiple => "multiple-signatures",
            Self::Bad => "bad-signature",
            Self::UnknownKey { .. } => "unknown-key",
            Self::KeyExpired { .. } => "key-expired",
            Self::KeyNotYetValid { .. } => "key-not-yet-valid",
            Self::KeyRevoked => "key-revoked",
            Self::SignatureExpired => "signature-expired",
            Self::WeakDigest { .. } => "weak-digest",
            Self::Future { .. } => "future-signature",
        }
    }

    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Malformed(_) | Self::Multiple => {
                "no known signer makes such a commit: find out who made it"
            }
            Self::UnsupportedFormat { .. } => {
                "merge through the forge, which signs with its OpenPGP key, or sign with a pinned OpenPGP key"
            }
            Self::Bad => {
                "the commit was altered after it was signed, or its signer is broken: do not deliver it"
            }
            Self::UnknownKey { .. } => {
                "a person signed it instead of the forge, or the forge has a new key: if you trust that key, pin \
                 its fingerprint in the environment file"
            }
            Self::KeyExpired { .. } => {
                "deliver a commit signed by a current key; to deliver an old one again, give its pin `notAfter` and \
                 `acceptExpired: true`"
            }
            Self::KeyNotYetValid { .. } => "deliver a newer commit, or correct `notBefore` of the pin",
            Self::KeyRevoked => {
                "remove the key's pin and find out why it was revoked before delivering anything"
            }
            Self::SignatureExpired => "sign again without an expiry",
            Self::WeakDigest { .. } => {
                "sign with SHA-256 or better: `personal-digest-preferences SHA512` in gpg.conf"
            }
            Self::Future { .. } => {
                "correct the clock of this machine or of the signer; if it is a few minutes, wait"
            }
        }
    }
}

/// Says why a signature was not accepted: it was refused, or it could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The signature does not count.
    #[error(transparent)]
    Refused(#[from] SignatureRefusal),
    /// GnuPG did not work, so nothing is known about the signature.
    #[error("gpg failed to check the signature: {0}")]
    Engine(String),
}

impl From<gpgme::Error> for SignatureError {
    fn from(error: gpgme::Error) -> Self {
        Self::Engine(error.description().into_owned())
    }
}
