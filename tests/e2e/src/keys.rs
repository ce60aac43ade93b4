//! Throw-away keys, made once and shared by all tests that run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

/// Throw-away keys.
#[derive(Debug)]
pub struct Keys {
    home: TempDir,
    /// The key that environment files pin.
    pub release: OpenPgpKey,
    /// A genuine key that nobody pins.
    pub stranger: OpenPgpKey,
    /// An approver.
    pub alice: SshKey,
    /// Another approver.
    pub bob: SshKey,
}

/// An OpenPGP key.
#[derive(Debug)]
pub struct OpenPgpKey {
    /// The fingerprint: 40 hex digits.
    pub fingerprint: String,
    /// The armored public key.
    pub file: PathBuf,
}

/// An SSH key.
#[derive(Debug)]
pub struct SshKey {
    /// The private key.
    pub private: PathBuf,
    /// The public key in one line.
    pub public: String,
}

impl Keys {
    /// Returns the keys; they live as long as somebody holds them.
    pub fn shared() -> Arc<Self> {
        static KEYS: Mutex<Weak<Keys>> = Mutex::new(Weak::new());
        let mut shared = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = shared.upgrade() {
            return keys;
        }
        let keys = Arc::new(Self::make());
        *shared = Arc::downgrade(&keys);
        keys
    }

    fn make() -> Self {
        // A short path: the agent's socket lies in it.
        let home = tempfile::Builder::new().prefix("we").tempdir_in("/tmp").unwrap();
        let folder = home.path();
        let (release, stranger) = (open_pgp(folder, "release"), open_pgp(folder, "stranger"));
        let (alice, bob) = (ssh(folder, "alice"), ssh(folder, "bob"));
        Self { home, release, stranger, alice, bob }
    }

    /// Returns the folder of the private keys, for `GNUPGHOME`.
    pub fn gnupg_home(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let mut stop = Command::new("gpgconf");
        stop.arg("--homedir").arg(self.home.path()).args(["--kill", "gpg-agent"]).status().ok();
    }
}

fn open_pgp(home: &Path, name: &str) -> OpenPgpKey {
    let address = format!("{name}@example.com");
    let user = format!("{name} <{address}>");
    gpg(
        home,
        &[
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
            "--quick-gen-key",
            &user,
            "ed25519",
            "sign",
            "never",
        ],
    );
    let listing = gpg(home, &["--list-keys", "--with-colons", &address]);
    let line = listing.lines().find(|line| line.starts_with("fpr:")).unwrap();
    let file = home.join(format!("{name}.asc"));
    std::fs::write(&file, gpg(home, &["--armor", "--export", &address])).unwrap();
    OpenPgpKey { fingerprint: line.split(':').nth(9).unwrap().to_owned(), file }
}

fn gpg(home: &Path, arguments: &[&str]) -> String {
    let output =
        Command::new("gpg").arg("--homedir").arg(home).args(["--batch", "--quiet"]).args(arguments).output();
    let output = output.unwrap();
    assert!(output.status.success(), "gpg {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn ssh(folder: &Path, name: &str) -> SshKey {
    let private = folder.join(name);
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
        .arg(&private)
        .status();
    assert!(made.unwrap().success(), "ssh-keygen");
    let public = std::fs::read_to_string(private.with_extension("pub")).unwrap().trim().to_owned();
    SshKey { private, public }
}
