//! Whose signatures count, through the whole stage.

use std::process::Command;

use super::platform::{COMMITTER, Platform, refused, unsigned, verify_with};
use crate::{Position, SourceError, Wanted};

#[test]
fn an_unsigned_commit_is_refused_with_the_usual_cause() {
    let platform = Platform::new();
    let first = platform.unsigned("rebased");
    let error = platform.verify(&platform.ask()).unwrap_err();
    assert_eq!(error.code(), "unsigned");
    assert!(error.hint().contains("rebase merge"), "{}", error.hint());
    assert!(error.to_string().contains(COMMITTER), "{error}");

    // Where the environment allows it, the same commit is read under the same rules of the branch.
    let read = unsigned(&platform.ask()).unwrap();
    assert_eq!((&read.commit, &read.tip, read.position), (&first, &first, Position::First));
    assert_eq!((&*read.subject, &*read.author), ("rebased", "Dev <dev@example.com>"));
    assert_eq!(read.tree.read("apps/a.yaml"), Some(&b"rebased"[..]));
    let second = platform.unsigned("more");
    refused(unsigned(&platform.ask().commit(&first).running(&second)), "rollback");
}

/// What an unsigned commit holds is delivered when a later signed one holds it: the signature vouches for
/// the tree.
#[test]
fn an_unsigned_parent_does_not_matter() {
    let platform = Platform::new();
    platform.unsigned("one");
    platform.signed("two");
    platform.accepts(&platform.ask(), Position::First);
}

#[test]
fn only_the_pinned_key_counts() {
    let platform = Platform::new();
    let other = platform.signer.key("person", "ed25519", "never", Some("20250101T000000"));
    platform.commit("by a person", &[&format!("-S{other}")]);
    let error = platform.verify(&platform.ask()).unwrap_err();
    assert_eq!(error.code(), "unknown-key");
    assert!(error.to_string().contains(&other), "{error}");
    verify_with(&platform.ask(), platform.signer.pin(&other)).unwrap();
}

#[test]
fn an_ssh_signature_is_named() {
    let platform = Platform::new();
    let key = platform.folder.path().join("ssh");
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status().unwrap();
    assert!(made.success());
    platform.git(&["config", "gpg.format", "ssh"]);
    platform.commit("ssh", &[&format!("-S{}", key.display())]);
    assert!(platform.refuses(&platform.ask(), "unsupported-format").contains("an SSH signature"));
}

#[test]
fn a_pin_can_demand_the_committer_who_signs_at_once() {
    let platform = Platform::new();
    let mut pin = platform.pin.clone();
    pin.committer = Some(COMMITTER.to_owned());
    platform.signed("usual");
    verify_with(&platform.ask(), pin.clone()).unwrap();

    platform.git(&[
        "-c",
        "user.name=Other",
        "commit",
        "--amend",
        "--quiet",
        "--no-edit",
        &format!("-S{}", platform.key),
    ]);
    pin.committer = Some("Forge <other@forge.example>".to_owned());
    refused(verify_with(&platform.ask(), pin.clone()), "committer-mismatch");

    pin.committer = Some(COMMITTER.to_owned());
    platform.git(&["checkout", "--quiet", "--detach"]);
    // A commit that says it is older than its signature.
    let raw = platform.git(&["cat-file", "commit", "HEAD"]);
    assert!(raw.contains("gpgsig"));
    let tree = platform.git(&["rev-parse", "HEAD^{tree}"]);
    let old = format!(
        "tree {tree}\nauthor {COMMITTER} 1735700000 +0000\ncommitter {COMMITTER} 1735700000 +0000\n\nold"
    );
    let signature = platform.signer.sign(&platform.key, &[], old.as_bytes());
    let header =
        format!("gpgsig {}\n", String::from_utf8(signature).unwrap().trim_end().replace('\n', "\n "));
    let file = platform.folder.path().join("commit");
    std::fs::write(&file, old.replacen("\n\n", &format!("\n{header}\n"), 1)).unwrap();
    let id = platform.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    platform.git(&["update-ref", "refs/heads/main", &id]);
    refused(verify_with(&platform.ask(), pin.clone()), "time-mismatch");
    pin.committer = None;
    verify_with(&platform.ask(), pin).unwrap();
}

/// A key that expired counts for what it signed in its time, but nothing new is delivered with it.
#[test]
fn an_expired_key_does_not_open_the_branch() {
    let mut platform = Platform::new();
    platform.key = platform.signer.key("old", "ed25519", "20250201T000000", Some("20250101T000000"));
    let program = platform.folder.path().join("gpg-in-january");
    std::fs::write(&program, "#!/bin/sh\nexec gpg --faked-system-time '20250115T000000!' \"$@\"\n").unwrap();
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    platform.git(&["config", "gpg.program", program.to_str().unwrap()]);
    let first = platform.signed("one");
    let second = platform.signed("two");

    let mut pin = platform.signer.pin(&platform.key);
    refused(verify_with(&platform.ask(), pin.clone()), "key-expired");
    pin.accept_expired = true;
    pin.not_after = Some("2025-01-31T00:00:00Z".parse().unwrap());
    let tip = refused(verify_with(&platform.ask(), pin.clone()), "key-expired");
    assert!(tip.contains("the branch's newest"), "{tip}");
    verify_with(&platform.ask().commit(&first), pin.clone()).unwrap();
    let again = verify_with(&platform.ask().running(&second), pin.clone()).unwrap();
    assert_eq!(again.position, Position::Same);
    let back = platform.ask().commit(&first).running(&second).rollback();
    assert_eq!(verify_with(&back, pin).unwrap().position, Position::Rollback { commits: 1 });
}

#[test]
fn errors_are_told_apart() {
    let platform = Platform::new();
    platform.signed("one");
    let mut ask = platform.ask();
    ask.wanted = Wanted::Commit("0".repeat(40).parse().unwrap());
    assert!(matches!(platform.verify(&ask), Err(SourceError::Refused(_))));
    platform.refuses(&ask, "not-on-branch");
}
