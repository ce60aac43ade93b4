//! A throw-away GnuPG home.

use std::collections::BTreeSet;

use tempfile::TempDir;

use crate::keyring::KeyringError;

/// Options of every `gpg` that works in the home. Without `no-autostart` an import leaves an agent behind.
/// GnuPG accepts SHA-1 unless it is called weak.
const GPG_CONF: &str = "\
no-autostart
batch
no-tty
no-auto-key-retrieve
no-auto-key-import
no-auto-check-trustdb
disable-dirmngr
trust-model always
weak-digest SHA1
weak-digest RIPEMD160
";

/// A private directory with its own keys and options, removed on drop.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    /// Creates an empty home that only this user can enter.
    pub(crate) fn create() -> Result<Self, KeyringError> {
        let directory =
            tempfile::Builder::new().prefix("windlass-keys-").tempdir().map_err(KeyringError::Home)?;
        std::fs::write(directory.path().join("gpg.conf"), GPG_CONF).map_err(KeyringError::Home)?;
        Ok(Self { directory })
    }

    /// Returns a context in this home. Contexts cannot be shared between threads: each call makes its own.
    pub(crate) fn context(&self) -> gpgme::Result<gpgme::Context> {
        let home = self.directory.path().to_str().ok_or(gpgme::Error::INV_VALUE)?;
        gpgme::init();
        let mut context = gpgme::Context::from_protocol(gpgme::Protocol::OpenPgp)?;
        context.set_engine_home_dir(home)?;
        context.set_offline(true);
        context.set_armor(true);
        Ok(context)
    }

    /// Imports a file and returns how many keys it holds. `name` is used in errors only.
    pub(crate) fn import(&self, name: &str, armored: &[u8]) -> Result<u32, KeyringError> {
        if contains(armored, b"PRIVATE KEY BLOCK") {
            return Err(KeyringError::Private { name: name.to_owned() });
        }
        let result = self.context()?.import(armored)?;
        if result.secret_considered() > 0 {
            return Err(KeyringError::Private { name: name.to_owned() });
        }
        Ok(result.considered())
    }

    /// Returns the fingerprints of all primary keys: 40 hex digits, upper case.
    pub(crate) fn primary_fingerprints(&self) -> Result<BTreeSet<String>, KeyringError> {
        let mut context = self.context()?;
        let mut found = BTreeSet::new();
        for key in context.keys()? {
            let fingerprint = key?.fingerprint().unwrap_or_default().to_ascii_uppercase();
            if !is_fingerprint(&fingerprint) {
                return Err(KeyringError::Unsupported { fingerprint });
            }
            found.insert(fingerprint);
        }
        Ok(found)
    }

    /// Returns one key in armored form.
    pub(crate) fn export(&self, fingerprint: &str) -> Result<Vec<u8>, KeyringError> {
        let mut armored = Vec::new();
        self.context()?.export([fingerprint], gpgme::ExportMode::empty(), &mut armored)?;
        Ok(armored)
    }
}

/// Says whether a text is a full fingerprint of a version 4 key. Short ids collide and are never taken.
pub(crate) fn is_fingerprint(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
