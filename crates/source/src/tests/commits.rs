//! The strict form of a commit, beside what Git and gpg make of the same bytes.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use windlass_trust::Keyring;

use super::platform::now;
use super::signer::Signer;
use crate::commit::{self, Problem, Signature, raw_parents};

const TREE: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";
const PARENT: &str = "parent 62bc080798ced7f198836a2a33ce522a55ebc7a9\n";
const AUTHOR: &str = "author Dev <dev@example.com> 1787304104 -1000\n";
const COMMITTER: &str = "committer GitHub <noreply@github.com> 1787304104 -1000\n";
const SIGNATURE: &str = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n";

/// What the parser says, in a word.
fn outcome(raw: &[u8]) -> &'static str {
    match commit::parse(raw) {
        Ok(commit) if commit.signature.is_some() => "signed",
        Ok(_) => "unsigned",
        Err(Problem::Malformed(_)) => "malformed",
        Err(Problem::MultipleSignatures) => "multiple",
        Err(Problem::Sha256Signature) => "sha256",
    }
}

#[test]
fn the_strict_form() {
    let people = format!("{AUTHOR}{COMMITTER}");
    let head = format!("{TREE}{PARENT}{people}");
    let check = |raw: String, want: &str| assert_eq!(outcome(raw.as_bytes()), want, "{raw}");
    check(format!("{head}{SIGNATURE}\nmessage\n"), "signed");
    check(format!("{head}{SIGNATURE} \n\nmessage"), "signed");
    check(format!("{head}{SIGNATURE}\n"), "signed");
    check(format!("{TREE}{people}{SIGNATURE}\nroot"), "signed");
    check(format!("{TREE}{PARENT}{PARENT}{PARENT}{people}{SIGNATURE}\noctopus"), "signed");
    check(format!("{head}encoding ISO-8859-1\n{SIGNATURE}\nm"), "signed");
    check(format!("{head}{SIGNATURE}encoding UTF-8\n\nm"), "signed");
    check(format!("{head}change-id abc\n{SIGNATURE}HG:extra x\n\nm"), "signed");
    check(format!("{head}mergetag object 1\n type commit\n \n text\n{SIGNATURE}\nm"), "signed");
    check(format!("{head}\nmessage"), "unsigned");
    check(format!("{head}\nmessage\n{SIGNATURE}\nmore"), "unsigned");
    check(format!("{head}\n{SIGNATURE}"), "unsigned");

    check(format!("{head}{SIGNATURE}{SIGNATURE}\nm"), "multiple");
    check(format!("{head}gpgsig-sha256 -----BEGIN PGP SIGNATURE-----\n{SIGNATURE}\nm"), "sha256");
    check(format!("{head}{SIGNATURE}gpgsig-sha256 -----BEGIN PGP SIGNATURE-----\n\nm"), "sha256");
    for (what, raw) in [
        ("empty", String::new()),
        ("no end of headers", format!("{head}{SIGNATURE}")),
        ("no line end", format!("{head}encoding x")),
        ("no tree", format!("{PARENT}{people}\nm")),
        ("two trees", format!("{TREE}{TREE}{people}\nm")),
        ("tree repeated later", format!("{head}{TREE}\nm")),
        ("parent later", format!("{TREE}{people}{PARENT}\nm")),
        ("author repeated", format!("{TREE}{AUTHOR}{AUTHOR}{COMMITTER}\nm")),
        ("author later", format!("{head}{AUTHOR}\nm")),
        ("no committer", format!("{TREE}{AUTHOR}\nm")),
        ("wrong order", format!("{TREE}{COMMITTER}{AUTHOR}\nm")),
        ("signature between tree and author", format!("{TREE}{SIGNATURE}{people}\nm")),
        ("signature between author and committer", format!("{TREE}{AUTHOR}{SIGNATURE}{COMMITTER}\nm")),
        ("continued tree", format!("{TREE} x\n{people}\nm")),
        ("continued committer", format!("{TREE}{people} x\n\nm")),
        ("almost a signature", format!("{head}gpgsigfoo bar\n{SIGNATURE}\nm")),
        ("almost a signature", format!("{head}GPGSIG bar\n{SIGNATURE}\nm")),
        ("almost a tree", format!("{head}Tree x\n{SIGNATURE}\nm")),
        ("text before the armor", format!("{head}gpgsig text\n -----BEGIN PGP SIGNATURE-----\n\nm")),
        ("empty signature", format!("{head}gpgsig \n\nm")),
        ("carriage returns", format!("{head}{}\nm", SIGNATURE.replace('\n', "\r\n"))),
        ("two encodings", format!("{head}encoding a\nencoding b\n\nm")),
        ("header without value", format!("{head}x\n\nm")),
        (
            "header without name",
            format!("{head} x\n\nm").replace(COMMITTER, &format!("{COMMITTER}{SIGNATURE}\t x\n")),
        ),
        ("zero byte in a header", format!("{head}x a\0b\n{SIGNATURE}\nm")),
        ("zero byte in the message", format!("{head}{SIGNATURE}\nm\0n")),
        ("upper-case id", format!("{}{people}\nm", TREE.replace("4b", "4B"))),
        ("short id", format!("{}{people}\nm", TREE.replace("4b", ""))),
        ("SHA-256 id", format!("{}{people}\nm", TREE.replace("4904", &"0".repeat(28)))),
        ("two blanks", format!("{}{people}\nm", TREE.replace("tree ", "tree  "))),
    ] {
        assert_eq!(outcome(raw.as_bytes()), "malformed", "{what}: {raw}");
    }
}

#[test]
fn people() {
    let check = |line: &str, want: Option<&str>| {
        let raw = format!("{TREE}author {line}\n{COMMITTER}\nm");
        assert_eq!(
            commit::parse(raw.as_bytes()).ok().map(|commit| commit.author.who).as_deref(),
            want,
            "{line}"
        );
    };
    check("A U Thor <a@b> 1 +0000", Some("A U Thor <a@b>"));
    check(
        "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com> 1 -1200",
        Some("dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>"),
    );
    check("Jürgen, \"the\" \u{202e} <> 1 +0530", Some("Jürgen, \"the\" \u{202e} <>"));
    check("<a@b> 1 +0000", Some("<a@b>"));
    check("A <a@b> 1 +051800", Some("A <a@b>"));
    for bad in [
        "",
        "A",
        "A a@b 1 +0000",
        "A<a@b> 1 +0000",
        "A <a@b>1 +0000",
        "A <a@b> 1",
        "A <a@b> +0000",
        "A <a@b> -1 +0000",
        "A <a@b> 1 0000",
        "A <a@b> 1 +00",
        "A <a@b> 1 +0000 ",
        "A <a@b> 1  +0000",
        "A <a<b> 1 +0000",
        "A <a@b>> 1 +0000",
        "A > <a@b> 1 +0000",
        "A <a@b> 1234567890123 +0000",
        "A <a@b> 1x +0000",
        "A <a@b> 1 +00x0",
        "A\r <a@b> 1 +0000",
    ] {
        check(bad, None);
    }
}

#[test]
fn parents_are_read_laxly_for_the_walk() {
    let parents = |text: String| raw_parents(text.as_bytes()).map(|parents| parents.len());
    assert_eq!(parents(format!("{TREE}{PARENT}{PARENT}author no one\nanything")), Some(2));
    assert_eq!(parents(format!("{TREE}author x\n")), Some(0));
    assert_eq!(parents(format!("{PARENT}author x\n")), None);
    assert_eq!(parents(format!("{TREE}parent x\nauthor x\n")), None);
    assert_eq!(parents(String::new()), None);
}

/// Commits that honest tools write pass here and in Git; where Git is laxer, it is laxer alone.
#[test]
fn what_is_accepted_here_git_accepts_too() {
    let signer = Signer::new();
    let key = signer.key("a", "ed25519", "never", None);
    let keyring = Keyring::new(vec![signer.pin(&key)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &signer, &["init", "--quiet"], b"");
    git(folder.path(), &signer, &["hash-object", "-w", "-t", "tree", "--stdin"], b"");
    let head = format!("{TREE}{AUTHOR}{COMMITTER}");
    let latin = [head.as_bytes(), b"encoding ISO-8859-1\n\ncaf\xe9\n"].concat();
    for payload in [
        format!("{head}\nmessage\n").into_bytes(),
        format!("{head}\nno final line end").into_bytes(),
        format!("{head}\nmany line ends\n\n\n").into_bytes(),
        format!("{head}\n").into_bytes(),
        format!("{head}change-id zyxw\n\nwritten by jj\n").into_bytes(),
        format!("{head}mergetag object 1\n type commit\n \n -----BEGIN PGP SIGNATURE-----\n\nmerged tag\n")
            .into_bytes(),
        format!("{head}\ntext\n{SIGNATURE}\n").into_bytes(),
        latin,
    ] {
        let at = payload.windows(2).position(|pair| pair == b"\n\n").unwrap() + 1;
        let armored = signer.sign(&key, &[], &payload);
        let lines = String::from_utf8(armored).unwrap().trim_end().replace('\n', "\n ");
        for header in [format!("gpgsig {lines}\n"), format!("gpgsig {lines}\n \n")] {
            let raw = [&payload[..at], header.as_bytes(), &payload[at..]].concat();
            let shown = String::from_utf8_lossy(&raw);
            assert!(verified(&keyring, &raw), "{shown}");
            let hash = ["hash-object", "-w", "-t", "commit", "--literally", "--stdin"];
            let id = git(folder.path(), &signer, &hash, &raw).expect("stored");
            assert!(git(folder.path(), &signer, &["verify-commit", &id], b"").is_some(), "{shown}");
        }
        // Git leaves this header out of what is signed: a second id for the same content.
        let header = format!("gpgsig {lines}\ngpgsigfoo bar\n");
        assert!(!verified(&keyring, &[&payload[..at], header.as_bytes(), &payload[at..]].concat()));
    }
}

fn verified(keyring: &Keyring, raw: &[u8]) -> bool {
    let Ok(Some(Signature { armored, payload })) = commit::parse(raw).map(|commit| commit.signature) else {
        return false;
    };
    keyring.verify_commit_signature(&armored, &payload, now()).is_ok()
}

/// Runs `git` and returns what it writes, or nothing if it fails.
fn git(folder: &std::path::Path, signer: &Signer, args: &[&str], input: &[u8]) -> Option<String> {
    let mut child = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GNUPGHOME", signer.home())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_bytes_make_it_panic(raw in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _outcome = (outcome(&raw), raw_parents(&raw));
    }

    /// Lines of a commit in any order and number: what is accepted is exactly signature and payload.
    #[test]
    fn an_accepted_commit_is_its_payload_and_one_signature(picks in proptest::collection::vec(0..14_usize, 0..12), tail in ".{0,20}") {
        let lines = [
            TREE, PARENT, AUTHOR, COMMITTER, SIGNATURE, "\n", " \n", " x\n", "encoding UTF-8\n", "mergetag object x\n", "gpgsig x\n",
            "x\n", "gpgsig-sha256 x\n", "change-id x\n",
        ];
        let body: String = picks.iter().map(|pick| lines[*pick]).collect();
        for raw in [format!("{body}{tail}"), format!("{TREE}{AUTHOR}{COMMITTER}{body}\n{tail}")] {
            let Ok(commit) = commit::parse(raw.as_bytes()) else { continue };
            prop_assert!(raw.starts_with("tree ") && raw.contains("\n\n"));
            prop_assert_eq!(raw_parents(raw.as_bytes()), Some(commit.parents.clone()));
            if let Some(signature) = commit.signature {
                let payload = String::from_utf8(signature.payload).unwrap();
                let (headers, _) = payload.split_once("\n\n").unwrap();
                prop_assert!(!headers.contains("\ngpgsig"));
                let header_bytes = raw.len() - payload.len();
                let lines = signature.armored.split_inclusive(|byte| *byte == b'\n').count();
                prop_assert_eq!(header_bytes, signature.armored.len() + "gpgsig ".len() + lines - 1);
            }
        }
    }
}
