//! A signer with keys of its own, made by the real `gpg`.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use windlass_trust::Pin;

/// A GnuPG home. Its agent is stopped on drop.
pub(crate) struct Signer {
    home: TempDir,
}

impl Signer {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::Builder::new().prefix("signer-").tempdir().unwrap() }
    }

    /// Runs `gpg` and returns what it writes.
    pub(crate) fn gpg(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.try_gpg(args, input);
        assert!(output.status.success(), "gpg {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn try_gpg(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new("gpg")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", ""])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // gpg may end before it has read everything.
        let _unread = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    /// Makes a key and returns its fingerprint.
    pub(crate) fn key(&self, uid: &str, algorithm: &str, expiry: &str, faked_time: Option<&str>) -> String {
        let faked = faked_time.map(|time| format!("{time}!"));
        let mut args = faked.as_deref().map_or(Vec::new(), |time| vec!["--faked-system-time", time]);
        args.extend(["--quick-gen-key", uid, algorithm, "sign,cert", expiry]);
        self.gpg(&args, b"");
        self.fingerprint(uid)
    }

    pub(crate) fn fingerprint(&self, uid: &str) -> String {
        let listing = String::from_utf8(self.gpg(&["--with-colons", "--list-keys", uid], b"")).unwrap();
        let line = listing.lines().find(|line| line.starts_with("fpr:")).unwrap();
        line.split(':').nth(9).unwrap().to_owned()
    }

    pub(crate) fn export(&self, key: &str) -> Vec<u8> {
        self.gpg(&["--armor", "--export", key], b"")
    }

    pub(crate) fn pin(&self, key: &str) -> Pin {
        Pin::new(key, "someone", &self.export(key))
    }

    /// Makes a detached armored signature.
    pub(crate) fn sign(&self, key: &str, more: &[&str], payload: &[u8]) -> Vec<u8> {
        let mut args = more.to_vec();
        args.extend(["--armor", "--detach-sign", "--local-user", key]);
        self.gpg(&args, payload)
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        let killed = Command::new("gpgconf")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--kill", "gpg-agent"])
            .status();
        assert!(killed.is_ok());
    }
}
