//! OpenPGP signatures by keys that the real `gpg` makes.

use crate::signer::Signer;
use jiff::{SignedDuration, Timestamp};
use windlass_trust::{Keyring, Pin, SignatureError, Signed};

const PAYLOAD: &[u8] = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nmessage";

#[expect(clippy::disallowed_methods, reason = "gpg signs with the real clock")]
fn now() -> Timestamp {
    Timestamp::now()
}

fn verify(pin: Pin, signature: &[u8]) -> Result<Signed, SignatureError> {
    Keyring::new(vec![pin]).unwrap().verify_commit_signature(signature, PAYLOAD, now())
}

fn code(result: Result<Signed, SignatureError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(SignatureError::Refused(refusal)) => {
            assert!(!refusal.hint().is_empty());
            refusal.code()
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn usual_keys_are_accepted() {
    let signer = Signer::new();
    for algorithm in ["ed25519", "rsa2048", "nistp256"] {
        let key = signer.key(algorithm, algorithm, "never", None);
        for digest in ["SHA256", "SHA384", "SHA512"] {
            let signature = signer.sign(&key, &["--digest-algo", digest], PAYLOAD);
            let accepted = verify(signer.pin(&key), &signature).unwrap();
            assert_eq!(
                (&accepted.signer.fingerprint, &accepted.signing_key),
                (&key, &key),
                "{algorithm} {digest}"
            );
            assert!(!accepted.key_expired);
        }
    }
}

#[test]
fn a_lower_case_pin_is_the_same_key() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let mut pin = signer.pin(&key);
    pin.fingerprint = pin.fingerprint.to_ascii_lowercase();
    let accepted = verify(pin, &signer.sign(&key, &[], PAYLOAD)).unwrap();
    assert_eq!(accepted.signer.fingerprint, key);
}

/// Argo CD issues 4930 and 10732: a subkey signs, the primary key is configured.
#[test]
fn a_subkey_counts_for_its_primary_key_until_it_is_revoked() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    signer.gpg(&["--quick-add-key", &key, "ed25519", "sign", "never"], b"");
    let signature = signer.sign(&key, &[], PAYLOAD);
    let before = signer.pin(&key);
    let accepted = verify(before.clone(), &signature).unwrap();
    assert_eq!(accepted.signer.fingerprint, key);
    assert_ne!(accepted.signing_key, key);

    signer.gpg(
        &["--no-batch", "--yes", "--command-fd", "0", "--edit-key", &key],
        b"key 1\nrevkey\ny\n0\n\ny\nsave\n",
    );
    let after = signer.pin(&key);
    assert_ne!(before.armored, after.armored);
    assert_eq!(code(verify(after, &signature)), "key-revoked");
}

#[test]
fn a_revoked_key_is_refused() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let signature = signer.sign(&key, &[], PAYLOAD);
    let revocation =
        std::fs::read_to_string(signer.home().join(format!("openpgp-revocs.d/{key}.rev"))).unwrap();
    signer.gpg(&["--import"], revocation.replace(":-----BEGIN", "-----BEGIN").as_bytes());
    assert_eq!(code(verify(signer.pin(&key), &signature)), "key-revoked");
}

#[test]
fn what_does_not_count_is_named() {
    let signer = Signer::new();
    let (key, other) = (signer.key("a", "ed25519", "never", None), signer.key("b", "ed25519", "never", None));
    let good = signer.sign(&key, &[], PAYLOAD);
    let check = |signature: &[u8], want: &str| {
        let text = String::from_utf8_lossy(signature).chars().take(300).collect::<String>();
        assert_eq!(code(verify(signer.pin(&key), signature)), want, "{text}");
    };
    check(&good, "ok");
    check(&signer.sign(&key, &[], b"another payload"), "bad-signature");
    check(&signer.sign(&other, &[], PAYLOAD), "unknown-key");
    for digest in ["SHA1", "RIPEMD160", "SHA224"] {
        check(&signer.sign(&key, &["--digest-algo", digest], PAYLOAD), "weak-digest");
    }
    check(&signer.sign(&key, &["--faked-system-time", "20990101T000000!"], PAYLOAD), "future-signature");
    check(&signer.sign(&key, &["--textmode"], PAYLOAD), "unsupported-format");
    check(&signer.gpg(&["--armor", "--sign", "--local-user", &key], PAYLOAD), "unsupported-format");
    check(&signer.gpg(&["--clear-sign", "--local-user", &key], PAYLOAD), "unsupported-format");
    check(&signer.gpg(&["--detach-sign", "--local-user", &key], PAYLOAD), "malformed-signature");
    for (compression, want) in [("0", "unsupported-format"), ("6", "malformed-signature")] {
        let message = signer.gpg(&["--armor", "--sign", "-z", compression, "--local-user", &key], PAYLOAD);
        let relabelled = String::from_utf8(message).unwrap().replace("PGP MESSAGE", "PGP SIGNATURE");
        check(relabelled.as_bytes(), want);
    }
    // Two signers in one block, two blocks in every order.
    check(&signer.sign(&key, &["--local-user", &other], PAYLOAD), "multiple-signatures");
    let bad = signer.sign(&key, &[], b"another payload");
    for pair in [[&good, &bad], [&bad, &good], [&good, &good]] {
        check(&pair.map(Vec::as_slice).concat(), "multiple-signatures");
    }
}

#[test]
fn signatures_of_other_formats_are_named() {
    let signer = Signer::new();
    let pin = signer.pin(&signer.key("a", "ed25519", "never", None));
    let keyring = Keyring::new(vec![pin]).unwrap();
    let check = |name: &str, want: &str| {
        let text = format!("-----BEGIN {name}-----\n\nAAAA\n-----END {name}-----\n");
        let error = keyring.verify_commit_signature(text.as_bytes(), PAYLOAD, now()).unwrap_err();
        assert!(error.to_string().contains(want), "{name}: {error}");
    };
    check("SSH SIGNATURE", "an SSH signature");
    check("SIGNED MESSAGE", "X.509");
    check("PGP MESSAGE", "inline-signed");
    check("PGP SIGNED MESSAGE", "inline-signed");
    check("SOMETHING", "unknown kind");
}

#[test]
fn malformed_armor_is_refused() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let good = String::from_utf8(signer.sign(&key, &[], PAYLOAD)).unwrap();
    let keyring = Keyring::new(vec![signer.pin(&key)]).unwrap();
    let check = |text: &str, want: &str| {
        assert_eq!(code(keyring.verify_commit_signature(text.as_bytes(), PAYLOAD, now())), want, "{text:?}");
    };
    let lines: Vec<&str> = good.lines().collect();
    let checksum = lines.iter().find(|line| line.starts_with('=')).unwrap();
    check(&good, "ok");
    check(&format!("{good}\n"), "ok");
    check(&good.replacen("-----\n\n", "-----\nVersion: GnuPG v2\nComment: text\n\n", 1), "ok");
    check(&good.replace(&format!("{checksum}\n"), ""), "ok");
    for text in [
        String::new(),
        "text".to_owned(),
        format!("text\n{good}"),
        format!(" {good}"),
        format!("{good}text\n"),
        format!("{good}\n\n"),
        good.replace('\n', "\r\n"),
        good.replacen("-----\n\n", "-----\n", 1),
        good.replacen("-----\n\n", "-----\nX-Header: text\n\n", 1),
        good.replace(checksum, "=AAAA"),
        good.replace(checksum, "=A"),
        good[..good.len() / 2].to_owned(),
        good.replace(lines[3], &lines[3][1..]),
        good.replace(lines[3], &format!("{}\n{}", &lines[3][..8], &lines[3][8..])),
        "-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n".to_owned(),
        format!(
            "-----BEGIN PGP SIGNATURE-----\n\n{}\n-----END PGP SIGNATURE-----\n",
            "A".repeat(1024 * 1024)
        ),
    ] {
        check(&text, "malformed-signature");
    }
}

#[test]
fn an_expired_signature_is_refused() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", Some("20250101T000000"));
    let expiring = ["--faked-system-time", "20250102T000000!", "--default-sig-expire", "1d"];
    assert_eq!(code(verify(signer.pin(&key), &signer.sign(&key, &expiring, PAYLOAD))), "signature-expired");
}

#[test]
fn a_signature_from_the_future_is_refused() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let signature = signer.sign(&key, &[], PAYLOAD);
    let keyring = Keyring::new(vec![signer.pin(&key)]).unwrap();
    let signed_at = keyring.verify_commit_signature(&signature, PAYLOAD, now()).unwrap().signer.signed_at;
    for (ahead, want) in
        [(0, "ok"), (60, "ok"), (300, "ok"), (301, "future-signature"), (3600, "future-signature")]
    {
        let now = signed_at - SignedDuration::from_secs(ahead);
        assert_eq!(code(keyring.verify_commit_signature(&signature, PAYLOAD, now)), want, "{ahead} s ahead");
    }
}

/// Two copies of GitHub's first key are public, one with an expiry and one without.
#[test]
fn what_an_expired_key_signed_counts_by_the_pin_alone() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "20250201T000000", Some("20250101T000000"));
    let in_time = signer.sign(&key, &["--faked-system-time", "20250115T000000!"], PAYLOAD);
    let expiring = signer.pin(&key);
    signer.gpg(&["--faked-system-time", "20250115T000000!", "--quick-set-expire", &key, "never"], b"");
    let endless = signer.pin(&key);
    let too_late = signer.sign(&key, &["--faked-system-time", "20250301T000000!"], PAYLOAD);

    let check = |pin: &Pin, until: Option<&str>, accept: bool, signature: &[u8], want: &str| {
        let mut pin = pin.clone();
        pin.not_after = until.map(|day| day.parse().unwrap());
        pin.accept_expired = accept;
        assert_eq!(code(verify(pin, signature)), want, "until {until:?}, accepting {accept}");
    };
    let (january, march) = (Some("2025-01-31T00:00:00Z"), Some("2025-03-31T00:00:00Z"));
    check(&expiring, None, false, &in_time, "key-expired");
    check(&expiring, january, false, &in_time, "key-expired");
    check(&expiring, january, true, &in_time, "ok");
    check(&expiring, Some("2025-01-14T00:00:00Z"), true, &in_time, "key-expired");
    check(&expiring, march, true, &too_late, "key-expired");
    check(&endless, None, false, &in_time, "ok");
    check(&endless, january, false, &in_time, "ok");
    check(&endless, january, false, &too_late, "key-expired");
    check(&endless, march, false, &too_late, "ok");
}

#[test]
fn threads_share_a_keyring_and_no_agent_stays() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let signature = signer.sign(&key, &[], PAYLOAD);
    let keyring = Keyring::new(vec![signer.pin(&key)]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let (keyring, signature) = (keyring.clone(), &signature);
            scope.spawn(move || {
                assert_eq!(code(keyring.verify_commit_signature(signature, PAYLOAD, now())), "ok");
            });
        }
    });
    let agents = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        (line.contains("gpg-agent") && line.contains("windlass-keys-")).then_some(line)
    });
    assert_eq!(agents.collect::<Vec<_>>(), Vec::<String>::new());
}
