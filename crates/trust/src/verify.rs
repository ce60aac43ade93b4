//! Verifies the signature of a commit.

use std::time::SystemTime;

use jiff::Timestamp;
use windlass_model::Signer;

use crate::armor;
use crate::keyring::Keyring;
use crate::packet::{self, Packet};
use crate::period::{self, Times};
use crate::refusal::{SignatureError, SignatureRefusal};

/// What an accepted signature proves, and the rules that its pin adds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Signed {
    /// Who signed.
    pub signer: Signer,
    /// The key that made the signature: the primary key or one of its subkeys; 40 hex digits.
    pub signing_key: String,
    /// The committer that the pin demands.
    pub pin_committer: Option<String>,
    /// Whether the key has expired since; accepted only where the pin says so.
    pub key_expired: bool,
}

impl Keyring {
    /// Verifies a detached armored OpenPGP signature over a commit's payload. Blocks on `gpg`.
    ///
    /// Accepts exactly one version 4 binary signature that GnuPG calls good, made with SHA-256, SHA-384 or
    /// SHA-512 by a pinned primary key or its subkey, dated at most 300 s after `now` and within the pin's
    /// days. GnuPG's `summary` and `validity` are not read: they are empty for a perfect signature in a
    /// fresh home.
    pub fn verify_commit_signature(
        &self,
        armored_sig: &[u8],
        payload: &[u8],
        now: Timestamp,
    ) -> Result<Signed, SignatureError> {
        let packet = packet::read(&armor::decode(armored_sig)?)?;
        let mut context = self.home().context()?;
        let verdict = verdict(&mut context, armored_sig, payload, &packet)?;
        let key = context.get_key(verdict.fingerprint.as_str())?;
        let primary = key.fingerprint().unwrap_or_default().to_ascii_uppercase();
        let pin = self.pin(&primary).ok_or(SignatureRefusal::UnknownKey { key_id: primary })?;
        let signed_at = timestamp(i64::from(packet.created))?;
        let times = Times {
            signed_at,
            key_expires: expiry(&key, &verdict.fingerprint)?,
            engine_says_expired: verdict.key_expired,
            now,
        };
        period::check(pin, times)?;
        Ok(Signed {
            signer: Signer { fingerprint: pin.fingerprint.clone(), name: pin.name.clone(), signed_at },
            signing_key: verdict.fingerprint,
            pin_committer: pin.committer.clone(),
            key_expired: verdict.key_expired,
        })
    }
}

/// What GnuPG says about a signature that is cryptographically good.
struct Verdict {
    fingerprint: String,
    key_expired: bool,
}

fn verdict(
    context: &mut gpgme::Context,
    armored: &[u8],
    payload: &[u8],
    packet: &Packet,
) -> Result<Verdict, SignatureError> {
    let result = match context.verify_detached(armored, payload) {
        Ok(result) => result,
        Err(error) if error.code() == gpgme::Error::NO_DATA.code() => {
            return Err(SignatureRefusal::Malformed("gpg finds no signature in it").into());
        }
        Err(error) => return Err(error.into()),
    };
    let mut signatures = result.signatures();
    // The armor holds exactly one signature packet; an engine that saw none did not finish.
    let first = signatures.next().ok_or_else(|| SignatureError::Engine("no result".to_owned()))?;
    if signatures.next().is_some() {
        return Err(SignatureRefusal::Multiple.into());
    }
    let key_expired = read_status(first, packet)?;
    strong_digest(first.hash_algorithm())?;
    if first.is_wrong_key_usage() || seconds(first.creation_time()) != Some(i64::from(packet.created)) {
        return Err(SignatureRefusal::Bad.into());
    }
    let fingerprint = first.fingerprint().unwrap_or_default().to_ascii_uppercase();
    if !crate::home::is_fingerprint(&fingerprint) {
        return Err(SignatureRefusal::UnknownKey { key_id: issuer(packet) }.into());
    }
    Ok(Verdict { fingerprint, key_expired })
}

/// Returns whether the key expired; any status but good and expired-key is a refusal.
fn read_status(signature: gpgme::Signature<'_>, packet: &Packet) -> Result<bool, SignatureRefusal> {
    let Err(error) = signature.status() else { return Ok(false) };
    let is = |other: gpgme::Error| error.code() == other.code();
    if is(gpgme::Error::KEY_EXPIRED) {
        return Ok(true);
    }
    Err(if is(gpgme::Error::NO_PUBKEY) {
        SignatureRefusal::UnknownKey { key_id: issuer(packet) }
    } else if is(gpgme::Error::CERT_REVOKED) {
        SignatureRefusal::KeyRevoked
    } else if is(gpgme::Error::SIG_EXPIRED) {
        SignatureRefusal::SignatureExpired
    } else if is(gpgme::Error::DIGEST_ALGO) {
        SignatureRefusal::WeakDigest { digest: signature.hash_algorithm().to_string() }
    } else if is(gpgme::Error::UNSUPPORTED_ALGORITHM) || is(gpgme::Error::PUBKEY_ALGO) {
        SignatureRefusal::UnsupportedFormat {
            what: "made with an algorithm that gpg does not know".to_owned(),
        }
    } else {
        SignatureRefusal::Bad
    })
}

fn strong_digest(digest: gpgme::HashAlgorithm) -> Result<(), SignatureRefusal> {
    use gpgme::HashAlgorithm::{Sha256, Sha384, Sha512};
    match digest {
        Sha256 | Sha384 | Sha512 => Ok(()),
        other => Err(SignatureRefusal::WeakDigest { digest: other.to_string() }),
    }
}

fn issuer(packet: &Packet) -> String {
    packet.issuer.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// Returns when the primary key or the signing subkey expires, whichever is first.
fn expiry(key: &gpgme::Key, signing: &str) -> Result<Option<Timestamp>, SignatureError> {
    let primary = key.primary_key().and_then(|primary| primary.expiration_time());
    let used = key
        .subkeys()
        .find(|subkey| subkey.fingerprint().is_ok_and(|print| print.eq_ignore_ascii_case(signing)));
    let first = [primary, used.and_then(|subkey| subkey.expiration_time())].into_iter().flatten().min();
    seconds(first).map(timestamp).transpose()
}

fn seconds(time: Option<SystemTime>) -> Option<i64> {
    let elapsed = time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(elapsed.as_secs()).ok()
}

fn timestamp(seconds: i64) -> Result<Timestamp, SignatureError> {
    Timestamp::from_second(seconds)
        .map_err(|_| SignatureRefusal::Malformed("its date is out of range").into())
}
