//! When a key's signatures count: the pin decides, not the copy of the key.

use jiff::Timestamp;

use crate::pin::Pinned;
use crate::refusal::SignatureRefusal;

/// How far a signer's clock may be ahead of ours, in seconds.
const CLOCK_SKEW: i64 = 300;

/// The times that decide about one signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// When the signature says it was made.
    pub(crate) signed_at: Timestamp,
    /// When the primary key or the signing subkey expires, whichever is first.
    pub(crate) key_expires: Option<Timestamp>,
    /// Whether GnuPG calls the key expired.
    pub(crate) engine_says_expired: bool,
    /// The present.
    pub(crate) now: Timestamp,
}

/// Refuses signatures from the future, outside of the pin's days, or by an expired key that the pin does
/// not accept any more.
///
/// Copies of one public key differ in their expiry (two copies of GitHub's first key do), so a rule that
/// must hold belongs into the pin.
pub(crate) fn check(pin: &Pinned, times: Times) -> Result<(), SignatureRefusal> {
    let Times { signed_at, now, .. } = times;
    if signed_at.as_second() > now.as_second().saturating_add(CLOCK_SKEW) {
        return Err(SignatureRefusal::Future { signed_at, now });
    }
    if let Some(not_before) = pin.not_before.filter(|day| signed_at < *day) {
        let (fingerprint, name) = (pin.fingerprint.clone(), pin.name.clone());
        return Err(SignatureRefusal::KeyNotYetValid { fingerprint, name, signed_at, not_before });
    }
    if let Some(until) = pin.not_after.filter(|day| signed_at > *day) {
        return expired(pin, format!("signed {signed_at}, pinned until {until}"));
    }
    let is_expired = times.engine_says_expired || times.key_expires.is_some_and(|day| day <= now);
    match times.key_expires {
        _ if !is_expired => Ok(()),
        Some(day) if signed_at >= day => expired(pin, format!("signed {signed_at}, the key expired {day}")),
        Some(_) if pin.accept_expired => Ok(()),
        Some(day) => {
            expired(pin, format!("the key expired {day}, and the pin does not accept an expired key"))
        }
        None => expired(pin, "the key expired at an unknown time".to_owned()),
    }
}

fn expired(pin: &Pinned, reason: String) -> Result<(), SignatureRefusal> {
    let (fingerprint, name) = (pin.fingerprint.clone(), pin.name.clone());
    Err(SignatureRefusal::KeyExpired { fingerprint, name, reason })
}
