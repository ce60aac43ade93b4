//! Real commits, signed by GitHub, with answers that are known: see `tests/fixtures/README.md`.

use std::sync::atomic::{AtomicUsize, Ordering};

use git2::ObjectType;
use jiff::Timestamp;
use windlass_trust::{Keyring, Pin, SignatureError};

use crate::commit;
use crate::objects::hash;

const NEW_KEY: (&str, &[u8]) = (
    "968479A1AFF927E37D1A566BB5690EEEBB952194",
    include_bytes!("../../tests/fixtures/web-flow-b5690eeebb952194.asc"),
);
const OLD_KEY: (&str, &[u8]) = (
    "5DE3E0509C47EA3CF04A42D34AEE18F83AFDEB23",
    include_bytes!("../../tests/fixtures/web-flow-4aee18f83afdeb23.asc"),
);

struct Known {
    id: &'static str,
    raw: &'static [u8],
    key: &'static str,
    /// The code with the keys pinned plainly, and with the old one pinned for what it signed in its time.
    plain: &'static str,
    accepting: &'static str,
}

const SQUASH: Known = Known {
    id: "62bc080798ced7f198836a2a33ce522a55ebc7a9",
    raw: include_bytes!("../../tests/fixtures/62bc080798ce.commit"),
    key: NEW_KEY.0,
    plain: "ok",
    accepting: "ok",
};
const OLD_MERGE: Known = Known {
    id: "7680392d965071bdc1ee0db76675a022cce8c560",
    raw: include_bytes!("../../tests/fixtures/7680392d9650.commit"),
    key: OLD_KEY.0,
    plain: "key-expired",
    accepting: "ok",
};
const OLD_BRANCH_COMMIT: Known = Known {
    id: "8760e92baa31f70374d3ef3d44b22468363f8a62",
    raw: include_bytes!("../../tests/fixtures/8760e92baa31.commit"),
    key: OLD_KEY.0,
    plain: "key-expired",
    accepting: "ok",
};
const TEST_MERGE: Known = Known {
    id: "90b9120af93ef34979c91cf6ce1379d9730c1903",
    raw: include_bytes!("../../tests/fixtures/90b9120af93e.commit"),
    key: NEW_KEY.0,
    plain: "ok",
    accepting: "ok",
};

fn now() -> Timestamp {
    "2026-11-30T00:00:00Z".parse().unwrap()
}

fn plain() -> Keyring {
    let pins = [NEW_KEY, OLD_KEY].map(|(fingerprint, armored)| Pin::new(fingerprint, "GitHub", armored));
    Keyring::new(pins.to_vec()).unwrap()
}

fn accepting() -> Keyring {
    let new = Pin::new(NEW_KEY.0, "GitHub", NEW_KEY.1);
    let mut old = Pin::new(OLD_KEY.0, "GitHub until 2024", OLD_KEY.1);
    old.accept_expired = true;
    old.not_after = Some("2024-01-16T20:00:00Z".parse().unwrap());
    Keyring::new(vec![new, old]).unwrap()
}

/// Parses and verifies; returns `ok` or the refusal's code. A failing engine is a failing test.
fn outcome(keyring: &Keyring, raw: &[u8]) -> &'static str {
    let commit = match commit::parse(raw) {
        Ok(commit) => commit,
        Err(commit::Problem::Malformed(_)) => return "malformed-commit",
        Err(commit::Problem::MultipleSignatures) => return "multiple-signatures",
        Err(commit::Problem::Sha256Signature) => return "unsupported-format",
    };
    let Some(signature) = commit.signature else { return "unsigned" };
    match keyring.verify_commit_signature(&signature.armored, &signature.payload, now()) {
        Ok(_) => "ok",
        Err(SignatureError::Refused(refusal)) => refusal.code(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn real_commits_have_their_known_answers() {
    let (plain, accepting) = (plain(), accepting());
    for known in [SQUASH, OLD_MERGE, OLD_BRANCH_COMMIT, TEST_MERGE] {
        assert_eq!(hex::encode(hash(ObjectType::Commit, known.raw)), known.id);
        assert_eq!(outcome(&plain, known.raw), known.plain, "{}", known.id);
        assert_eq!(outcome(&accepting, known.raw), known.accepting, "{}", known.id);
        let commit = commit::parse(known.raw).unwrap();
        let signature = commit.signature.unwrap();
        let signed =
            accepting.verify_commit_signature(&signature.armored, &signature.payload, now()).unwrap();
        assert_eq!(signed.signer.fingerprint, known.key);
        assert_eq!(signed.key_expired, known.key == OLD_KEY.0);
        assert_eq!(commit.committer.who, "GitHub <noreply@github.com>");
        assert!(commit.committer.time.abs_diff(signed.signer.signed_at.as_second()) <= 1);
    }
}

#[test]
fn a_pin_limits_when_signatures_count() {
    let check = |edit: &dyn Fn(&mut Pin), raw: &[u8], want: &str| {
        let mut pin = Pin::new(OLD_KEY.0, "old", OLD_KEY.1);
        pin.accept_expired = true;
        pin.not_after = Some("2024-01-16T20:00:00Z".parse().unwrap());
        edit(&mut pin);
        assert_eq!(outcome(&Keyring::new(vec![pin]).unwrap(), raw), want);
    };
    let day = |text: &str| Some(text.parse().unwrap());
    check(&|_| {}, OLD_MERGE.raw, "ok");
    check(&|pin| pin.not_before = day("2022-01-01T00:00:00Z"), OLD_MERGE.raw, "key-not-yet-valid");
    check(&|pin| pin.not_before = day("2021-01-01T00:00:00Z"), OLD_MERGE.raw, "ok");
    check(&|pin| pin.not_after = day("2022-01-01T00:00:00Z"), OLD_MERGE.raw, "ok");
    check(&|pin| pin.not_after = day("2022-01-01T00:00:00Z"), OLD_BRANCH_COMMIT.raw, "key-expired");
    check(&|pin| pin.accept_expired = false, OLD_MERGE.raw, "key-expired");
    check(&|_| {}, SQUASH.raw, "unknown-key");
}

/// An attacker without a key who changes a byte also takes the new id, so it is not the id that protects.
#[test]
fn no_changed_byte_is_accepted() {
    let keyring = accepting();
    for (known, step) in [(SQUASH, 1), (OLD_MERGE, 7), (OLD_BRANCH_COMMIT, 7), (TEST_MERGE, 7)] {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(step, Ordering::Relaxed);
                        if at >= known.raw.len() {
                            break;
                        }
                        refused_with_byte_changed(&keyring, &known, at);
                    }
                });
            }
        });
    }
}

fn refused_with_byte_changed(keyring: &Keyring, known: &Known, at: usize) {
    // The lowest bit makes other letters, the bit of case other forms of the same letter. Most of the time
    // goes into signed bytes, which are the same to gpg, so the second bit is tried for some of them only.
    let bits: &[u8] = if at.is_multiple_of(3) { &[0x01, 0x20] } else { &[0x01] };
    for bit in bits {
        let mut raw = known.raw.to_vec();
        raw[at] ^= bit;
        assert_ne!(hex::encode(hash(ObjectType::Commit, &raw)), known.id);
        assert_ne!(outcome(keyring, &raw), "ok", "{} with byte {at} ^ {bit:#x}", known.id);
    }
}

#[test]
fn no_byte_can_be_added_or_removed() {
    let keyring = accepting();
    let raw = SQUASH.raw;
    for at in (0..=raw.len()).step_by(13).chain([raw.len() - 1, raw.len()]) {
        for byte in *b"\n a" {
            let longer = [&raw[..at], &[byte], &raw[at..]].concat();
            assert_ne!(outcome(&keyring, &longer), "ok", "byte {byte} at {at}");
        }
        if at < raw.len() {
            let shorter = [&raw[..at], &raw[at + 1..]].concat();
            assert_ne!(outcome(&keyring, &shorter), "ok", "without byte {at}");
        }
    }
}
