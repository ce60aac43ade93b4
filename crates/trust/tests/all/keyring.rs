//! What a file with a pinned key may hold.

use crate::signer::Signer;
use windlass_trust::{Keyring, KeyringError, Pin};

fn refused(pins: Vec<Pin>, want: &str) {
    let error = Keyring::new(pins).unwrap_err();
    assert!(error.to_string().contains(want), "{error} instead of {want}");
    assert_eq!(error.code(), "keyring-mismatch", "{error}");
    assert!(!error.is_infrastructure() && !error.hint().is_empty());
}

#[test]
fn a_file_holds_exactly_its_pinned_key() {
    let signer = Signer::new();
    let (one, other) =
        (signer.key("one", "ed25519", "never", None), signer.key("other", "ed25519", "never", None));
    let (first, second) = (signer.export(&one), signer.export(&other));
    let pin = |fingerprint: &str, armored: &[u8]| Pin::new(fingerprint, "someone", armored);
    let both = [&*first, &*second].concat();

    assert_eq!(Keyring::new(vec![pin(&one, &first), pin(&other, &second)]).unwrap().pins().count(), 2);
    refused(vec![], "no key is pinned");
    for bad in [
        "",
        &one[24..],
        &one[32..],
        &format!("0x{one}"),
        &format!("G{}", &one[1..]),
        &format!("{one} "),
        &format!("{one}00"),
    ] {
        refused(vec![pin(bad, &first)], "not 40 hex digits");
    }
    refused(vec![pin(&one, &first), pin(&one, &first)], "pinned twice");
    refused(vec![pin(&one, &first), pin(&one.to_lowercase(), &first)], "pinned twice");
    refused(vec![pin(&one, &second)], "does not hold");
    refused(vec![pin(&one, b"")], "does not hold");
    refused(vec![pin(&one, b"no key at all")], "does not hold");
    refused(vec![pin(&one, &both)], &format!("more than the pinned key: {other}"));
    refused(vec![pin(&one, &first), pin(&other, &both)], "more than the pinned key");
    refused(vec![pin(&one, &[&*first, &*first].concat())], "more than the pinned key");
    let private = signer.gpg(&["--armor", "--export-secret-keys", &one], b"");
    refused(vec![pin(&one, &private)], "private key");
    let raw = signer.gpg(&["--export-secret-keys", &one], b"");
    refused(vec![pin(&one, &raw)], "private key");
}

#[test]
fn rules_that_contradict_themselves_are_refused() {
    let signer = Signer::new();
    let key = signer.key("one", "ed25519", "never", None);
    let day = |text: &str| Some(text.parse().unwrap());
    let mut pin = signer.pin(&key);
    pin.accept_expired = true;
    refused(vec![pin.clone()], "needs the day after which");
    pin.not_after = day("2025-01-01T00:00:00Z");
    assert!(Keyring::new(vec![pin.clone()]).is_ok());
    pin.not_before = day("2025-01-02T00:00:00Z");
    refused(vec![pin], "stops counting before");
}

#[test]
fn every_key_of_a_file_can_be_pinned_at_once() {
    let signer = Signer::new();
    let (one, other) =
        (signer.key("one", "ed25519", "never", None), signer.key("other", "rsa2048", "never", None));
    let pins = Pin::from_armored(&[signer.export(&one), signer.export(&other)].concat(), "file.asc").unwrap();
    let mut want = [one, other];
    want.sort();
    assert_eq!(pins.iter().map(|pin| pin.fingerprint.clone()).collect::<Vec<_>>(), want);
    assert_eq!(Keyring::new(pins).unwrap().pins().count(), 2);
    assert!(matches!(Pin::from_armored(b"no key", "file.asc"), Err(KeyringError::Empty)));
}
