//! SSH signatures, against the real `ssh-keygen`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};
use ssh_key::public::{KeyData, SkEd25519};
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, Signature, SshSig};
use tempfile::TempDir;
use windlass_trust::sshsig::{self, APPROVAL_NAMESPACE, SigningError, SigningKey, SshRefusal};

const MESSAGE: &[u8] = b"{\"schema\":1}\n";

fn keygen(args: &[&str], folder: &Path, input: Option<&Path>) -> bool {
    let stdin = input.map_or(Stdio::null(), |path| Stdio::from(std::fs::File::open(path).unwrap()));
    let output = Command::new("ssh-keygen").args(args).current_dir(folder).stdin(stdin).output().unwrap();
    output.status.success()
}

/// Makes a key and returns its private file and its public line.
fn key(folder: &TempDir, name: &str, args: &[&str]) -> (PathBuf, String) {
    let mut all = vec!["-q", "-N", "", "-C", name, "-f", name];
    all.extend(args);
    assert!(keygen(&all, folder.path(), None), "{args:?}");
    let public = std::fs::read_to_string(folder.path().join(format!("{name}.pub"))).unwrap();
    (folder.path().join(name), public)
}

fn load(path: &Path) -> SigningKey {
    SigningKey::from_openssh(&std::fs::read(path).unwrap(), None).unwrap()
}

#[test]
fn signatures_work_both_ways_with_ssh_keygen() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args, can_sign) in [
        ("ed", &["-t", "ed25519"][..], true),
        ("ec", &["-t", "ecdsa", "-b", "256"], true),
        ("rsa", &["-t", "rsa", "-b", "2048"], false),
    ] {
        let (private, public) = key(&folder, name, args);
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("message"), MESSAGE).unwrap();
        let _old = std::fs::remove_file(at("message.sig"));
        assert!(keygen(
            &["-q", "-Y", "sign", "-f", name, "-n", APPROVAL_NAMESPACE, "message"],
            folder.path(),
            None
        ));
        let theirs = std::fs::read(at("message.sig")).unwrap();
        assert_eq!(sshsig::verify(&public, APPROVAL_NAMESPACE, MESSAGE, &theirs), Ok(()), "{name}");

        let ours = sshsig::sign(&load(&private), APPROVAL_NAMESPACE, MESSAGE);
        if !can_sign {
            assert_eq!(ours, Err(SigningError::Unsupported));
            continue;
        }
        let ours = ours.unwrap();
        assert_eq!(sshsig::verify(&public, APPROVAL_NAMESPACE, MESSAGE, ours.as_bytes()), Ok(()), "{name}");
        std::fs::write(at("signature"), &ours).unwrap();
        std::fs::write(at("allowed"), format!("someone {public}")).unwrap();
        let verify =
            ["-Y", "verify", "-f", "allowed", "-I", "someone", "-n", APPROVAL_NAMESPACE, "-s", "signature"];
        assert!(keygen(&verify, folder.path(), Some(&at("message"))), "{name}");
    }
}

fn raw_signature(key: &impl ssh_key::SigningKey, bytes: &[u8]) -> Signature {
    key.try_sign(bytes).unwrap()
}

/// A security key signs the digests of its application and of the message around flags and a counter.
#[test]
fn a_security_key_counts_when_it_was_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (private, _) = key(&folder, "one", &["-t", "ed25519"]);
    let private = PrivateKey::from_openssh(std::fs::read(private).unwrap()).unwrap();
    let pair = private.key_data().ed25519().unwrap();
    let public = KeyData::SkEd25519(SkEd25519::new(pair.public, "ssh:"));
    let line = PublicKey::new(public.clone(), "someone").to_openssh().unwrap();
    for (flags, want) in
        [(1, Ok(())), (5, Ok(())), (0, Err(SshRefusal::NotPresent)), (4, Err(SshRefusal::NotPresent))]
    {
        let signed = SshSig::signed_data(APPROVAL_NAMESPACE, HashAlg::Sha512, MESSAGE).unwrap();
        let trailer = [flags, 0, 0, 0, 7];
        let over = [&Sha256::digest(b"ssh:")[..], &trailer, &Sha256::digest(signed)].concat();
        let bytes = [raw_signature(&private, &over).as_bytes(), &trailer].concat();
        let signature = Signature::new(Algorithm::SkEd25519, bytes).unwrap();
        let signature = SshSig::new(public.clone(), APPROVAL_NAMESPACE, HashAlg::Sha512, signature).unwrap();
        let armored = signature.to_pem(LineEnding::LF).unwrap();
        assert_eq!(sshsig::verify(&line, APPROVAL_NAMESPACE, MESSAGE, armored.as_bytes()), want, "{flags}");
    }
}

#[test]
fn what_does_not_count_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (private, public) = key(&folder, "one", &["-t", "ed25519"]);
    let (_, other) = key(&folder, "other", &["-t", "ed25519"]);
    let signing = load(&private);
    let good = sshsig::sign(&signing, APPROVAL_NAMESPACE, MESSAGE).unwrap();
    let check = |public: &str, message: &[u8], signature: &[u8], want: &str| {
        let refusal = sshsig::verify(public, APPROVAL_NAMESPACE, message, signature).unwrap_err();
        assert_eq!(refusal.code(), want, "{refusal}");
        assert!(!refusal.hint().is_empty());
    };
    check(&public, b"another message", good.as_bytes(), "bad-signature");
    check(&other, MESSAGE, good.as_bytes(), "unknown-key");
    check("", MESSAGE, good.as_bytes(), "bad-key");
    check("ssh-ed25519 AAAA x", MESSAGE, good.as_bytes(), "bad-key");
    check(&format!("{public}{other}"), MESSAGE, good.as_bytes(), "bad-key");
    for namespace in ["git", "file", "windlass-approval-2", "WINDLASS-APPROVAL"] {
        check(
            &public,
            MESSAGE,
            sshsig::sign(&signing, namespace, MESSAGE).unwrap().as_bytes(),
            "wrong-namespace",
        );
    }
    for bad in [
        String::new(),
        "text".to_owned(),
        good[..good.len() / 2].to_owned(),
        "A".repeat(20_000),
        format!("text\n{good}"),
    ] {
        check(&public, MESSAGE, bad.as_bytes(), "malformed-signature");
    }
    assert!(sshsig::sign(&signing, "", MESSAGE).is_err());
}

#[test]
fn no_changed_byte_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (private, public) = key(&folder, "one", &["-t", "ed25519"]);
    let good = sshsig::sign(&load(&private), APPROVAL_NAMESPACE, MESSAGE).unwrap();
    for at in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[at] ^= if bytes[at] == b'\n' { b'\n' ^ b'-' } else { 1 };
        assert!(sshsig::verify(&public, APPROVAL_NAMESPACE, MESSAGE, &bytes).is_err(), "byte {at}");
    }
}

#[test]
fn weak_keys_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args) in [
        ("short", &["-t", "rsa", "-b", "1024"][..]),
        ("p384", &["-t", "ecdsa", "-b", "384"]),
        ("dsa", &["-t", "dsa"]),
    ] {
        let mut all = vec!["-q", "-N", "", "-f", name];
        all.extend(args);
        // Newer releases of OpenSSH cannot make DSA keys any more.
        if !keygen(&all, folder.path(), None) {
            assert_eq!(name, "dsa");
            continue;
        }
        let public = std::fs::read_to_string(folder.path().join(format!("{name}.pub"))).unwrap();
        let refusal = sshsig::verify(&public, APPROVAL_NAMESPACE, MESSAGE, b"").unwrap_err();
        assert_eq!(refusal.code(), "weak-key", "{name}: {refusal}");
    }
}

#[test]
fn a_protected_key_needs_its_passphrase_and_stays_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let (private, public) = key(&folder, "one", &["-t", "ed25519"]);
    assert!(keygen(&["-q", "-p", "-P", "", "-N", "hunter2", "-f", "one"], folder.path(), None));
    let bytes = std::fs::read(&private).unwrap();
    let open = |passphrase: Option<&[u8]>| SigningKey::from_openssh(&bytes, passphrase);
    assert_eq!(open(None).unwrap_err(), SigningError::PassphraseNeeded);
    assert_eq!(open(Some(b"hunter3")).unwrap_err(), SigningError::WrongPassphrase);
    assert_eq!(SigningKey::from_openssh(public.as_bytes(), None).unwrap_err(), SigningError::NotAKey);
    let key = open(Some(b"hunter2")).unwrap();
    assert_eq!(key.public_line(), public.trim());
    assert_eq!(format!("{key:?}"), format!("SigningKey({})", sshsig::fingerprint(&public).unwrap()));
}
