//! SSH signatures (`ssh-keygen -Y sign`) over given bytes.
//!
//! The namespace keeps a signature made for one purpose from counting for another: approvals use
//! [`APPROVAL_NAMESPACE`].

use std::fmt;

use ssh_key::public::KeyData;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

/// The namespace of approvals.
pub const APPROVAL_NAMESPACE: &str = "windlass-approval";

/// A signature with an RSA 4096 key needs about 1.5 KiB of armor.
const MAX_ARMOR: usize = 16 * 1024;
const MIN_RSA_BITS: usize = 2048;
/// The flag of a security key that says a person touched it (CTAP2, user presence).
const USER_PRESENT: u8 = 1;

/// Says why an SSH signature does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SshRefusal {
    /// The public key line cannot be read.
    #[error("the public key is not a line such as `ssh-ed25519 AAAA… name`")]
    BadKey,
    /// The key's algorithm or length is too weak, or is not supported.
    #[error("keys of type {0} do not count")]
    WeakKey(String),
    /// The bytes are not one armored SSH signature.
    #[error("the signature is malformed: {0}")]
    Malformed(&'static str),
    /// The signature was made for another purpose.
    #[error("the signature is made for `{found}`, not for `{expected}`")]
    Namespace {
        /// The namespace that was expected.
        expected: String,
        /// The namespace that the signature names.
        found: String,
    },
    /// Another key made the signature.
    #[error("the signature was made by another key ({found})")]
    OtherKey {
        /// The fingerprint of the key that the signature names.
        found: String,
    },
    /// The signature algorithm can be forged.
    #[error("the signature algorithm {0} is too weak")]
    WeakAlgorithm(String),
    /// The security key signed without anyone touching it.
    #[error("the security key signed without being touched")]
    NotPresent,
    /// The signature does not fit the signed bytes.
    #[error("the signature does not fit the signed bytes")]
    Bad,
}

impl SshRefusal {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadKey => "bad-key",
            Self::WeakKey(_) => "weak-key",
            Self::Malformed(_) => "malformed-signature",
            Self::Namespace { .. } => "wrong-namespace",
            Self::OtherKey { .. } => "unknown-key",
            Self::WeakAlgorithm(_) => "weak-digest",
            Self::NotPresent => "user-not-present",
            Self::Bad => "bad-signature",
        }
    }

    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadKey => "give the content of a `.pub` file",
            Self::WeakKey(_) => {
                "use an Ed25519 key (also on a security key), ECDSA P-256, or RSA of at least 2048 bits"
            }
            Self::Malformed(_) => "give the file as `windlass approve` or `ssh-keygen -Y sign` wrote it",
            Self::Namespace { .. } => "sign again for the right purpose; signatures cannot be reused",
            Self::OtherKey { .. } => {
                "sign with the key that the environment file names, or name that key there"
            }
            Self::WeakAlgorithm(_) => "sign with a current OpenSSH, which uses SHA-2",
            Self::NotPresent => "use a security key that demands a touch",
            Self::Bad => "the signed text was altered, or belongs to another signature: sign again",
        }
    }
}

/// Says why a private key cannot be used. Never holds any part of the key or its passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The bytes are not a private key in OpenSSH's form.
    #[error("the file is not a private key in OpenSSH's form")]
    NotAKey,
    /// The key is protected and no passphrase was given.
    #[error("the private key is protected by a passphrase")]
    PassphraseNeeded,
    /// The passphrase does not open the key.
    #[error("the passphrase does not open the private key")]
    WrongPassphrase,
    /// The key's kind cannot sign here.
    #[error("keys of this type cannot sign here")]
    Unsupported,
}

impl SigningError {
    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAKey => {
                "give the private key file, not the `.pub` file; convert older forms with `ssh-keygen -p`"
            }
            Self::PassphraseNeeded => "give the passphrase",
            Self::WrongPassphrase => "give the passphrase again",
            Self::Unsupported => {
                "use an Ed25519 or ECDSA P-256 key, or sign with `ssh-keygen -Y sign`, which can use RSA keys, \
                 security keys and agents"
            }
        }
    }
}

/// A private key that can sign. Its `Debug` form shows the public half only.
pub struct SigningKey(PrivateKey);

impl SigningKey {
    /// Reads a private key file in OpenSSH's form, opening it with the passphrase if it is protected.
    pub fn from_openssh(bytes: &[u8], passphrase: Option<&[u8]>) -> Result<Self, SigningError> {
        let key = PrivateKey::from_openssh(bytes).map_err(|_| SigningError::NotAKey)?;
        if !key.is_encrypted() {
            return Ok(Self(key));
        }
        let passphrase = passphrase.ok_or(SigningError::PassphraseNeeded)?;
        key.decrypt(passphrase).map(Self).map_err(|_| SigningError::WrongPassphrase)
    }

    /// Returns the public key as one line.
    pub fn public_line(&self) -> String {
        self.0.public_key().to_openssh().unwrap_or_default()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.0.fingerprint(HashAlg::Sha256))
    }
}

/// Signs a message with an Ed25519 or ECDSA P-256 key and returns the armored signature, which `ssh-keygen -Y verify` accepts too.
pub fn sign(key: &SigningKey, namespace: &str, message: &[u8]) -> Result<String, SigningError> {
    key.0
        .sign(namespace, HashAlg::Sha512, message)
        .and_then(|signature| signature.to_pem(LineEnding::LF))
        .map_err(|_| SigningError::Unsupported)
}

/// Verifies an armored signature by exactly the given public key, for exactly the given namespace.
pub fn verify(public_key: &str, namespace: &str, message: &[u8], armored: &[u8]) -> Result<(), SshRefusal> {
    let key = read_public(public_key)?;
    let signature = read_signature(armored)?;
    if signature.namespace() != namespace {
        let (expected, found) = (namespace.to_owned(), signature.namespace().escape_default().to_string());
        return Err(SshRefusal::Namespace { expected, found });
    }
    if signature.public_key() != key.key_data() {
        let found = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
        return Err(SshRefusal::OtherKey { found });
    }
    strong_algorithm(&signature)?;
    key.verify(namespace, message, &signature).map_err(|_| SshRefusal::Bad)
}

/// Returns the fingerprint of a public key line, such as `SHA256:…`.
pub fn fingerprint(public_key: &str) -> Result<String, SshRefusal> {
    Ok(read_public(public_key)?.fingerprint(HashAlg::Sha256).to_string())
}

fn read_public(line: &str) -> Result<PublicKey, SshRefusal> {
    // A second line would be taken for a part of the first one's comment.
    if line.trim().contains(['\n', '\r']) {
        return Err(SshRefusal::BadKey);
    }
    let key = PublicKey::from_openssh(line.trim()).map_err(|_| SshRefusal::BadKey)?;
    match key.key_data() {
        KeyData::Ed25519(_) | KeyData::SkEd25519(_) => Ok(key),
        KeyData::Ecdsa(point) if point.curve() == ssh_key::EcdsaCurve::NistP256 => Ok(key),
        KeyData::Rsa(rsa) if bits(rsa.n.as_positive_bytes()) >= MIN_RSA_BITS => Ok(key),
        KeyData::Rsa(_) => Err(SshRefusal::WeakKey(format!("RSA below {MIN_RSA_BITS} bits"))),
        _ => Err(SshRefusal::WeakKey(key.algorithm().to_string())),
    }
}

fn bits(number: Option<&[u8]>) -> usize {
    match number {
        Some([first, rest @ ..]) => rest.len() * 8 + (8 - first.leading_zeros() as usize),
        _ => 0,
    }
}

fn read_signature(armored: &[u8]) -> Result<SshSig, SshRefusal> {
    if armored.len() > MAX_ARMOR {
        return Err(SshRefusal::Malformed("it is longer than 16 KiB"));
    }
    let signature =
        SshSig::from_pem(armored).map_err(|_| SshRefusal::Malformed("it is not an SSH signature"))?;
    // The parser skips text before the armor and takes inner lengths that do not add up; written again, such
    // a signature is another one.
    let again = signature.to_pem(LineEnding::LF).unwrap_or_default();
    if without_blanks(armored) != without_blanks(again.as_bytes()) {
        return Err(SshRefusal::Malformed("it is not in the one regular form"));
    }
    if signature.version() != SshSig::VERSION {
        return Err(SshRefusal::Malformed("its version is not 1"));
    }
    if !signature.reserved().is_empty() {
        return Err(SshRefusal::Malformed("its reserved field is not empty"));
    }
    Ok(signature)
}

fn without_blanks(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// Refuses `ssh-rsa`, which is SHA-1, DSA, and a security key's signature that nobody confirmed.
fn strong_algorithm(signature: &SshSig) -> Result<(), SshRefusal> {
    match (signature.public_key(), signature.algorithm()) {
        (KeyData::Ed25519(_), Algorithm::Ed25519)
        | (KeyData::Ecdsa(_), Algorithm::Ecdsa { .. })
        | (KeyData::Rsa(_), Algorithm::Rsa { hash: Some(_) }) => Ok(()),
        (KeyData::SkEd25519(_), Algorithm::SkEd25519) => match signature.signature_bytes() {
            [.., flags, _, _, _, _] if flags & USER_PRESENT != 0 => Ok(()),
            _ => Err(SshRefusal::NotPresent),
        },
        (_, other) => Err(SshRefusal::WeakAlgorithm(other.to_string())),
    }
}
