//! A repository with a protected branch, and a signer for its commits.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use tempfile::TempDir;
use windlass_model::{CommitId, ExitCode};
use windlass_trust::{Keyring, Pin};

use super::signer::Signer;
use crate::{Position, Request, SourceError, Unsigned, Verified, Wanted};

pub(crate) const COMMITTER: &str = "Forge <noreply@forge.example>";

/// A repository, the cache of its private copy, and a key.
pub(crate) struct Platform {
    pub(crate) folder: TempDir,
    pub(crate) signer: Signer,
    pub(crate) key: String,
    pub(crate) pin: Pin,
}

/// What a test asks for; the rest of the request is usual.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) repository: String,
    pub(crate) branch: String,
    pub(crate) wanted: Wanted,
    pub(crate) running: Option<CommitId>,
    pub(crate) highest_tip: Option<CommitId>,
    pub(crate) rewritten_to: Option<CommitId>,
    pub(crate) rollback: bool,
    pub(crate) cache: PathBuf,
    pub(crate) git: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) timeout: Duration,
}

impl Ask {
    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            repository: &self.repository,
            branch: &self.branch,
            wanted: &self.wanted,
            running: self.running.as_ref(),
            highest_tip: self.highest_tip.as_ref(),
            rewritten_to: self.rewritten_to.as_ref(),
            rollback: self.rollback,
            cache: &self.cache,
            git: &self.git,
            environment: &self.environment,
            fetch_timeout: self.timeout,
        }
    }

    pub(crate) fn commit(mut self, id: &CommitId) -> Self {
        self.wanted = Wanted::Commit(id.clone());
        self
    }

    pub(crate) fn running(mut self, id: &CommitId) -> Self {
        self.running = Some(id.clone());
        self
    }

    pub(crate) fn seen(mut self, id: &CommitId) -> Self {
        self.highest_tip = Some(id.clone());
        self
    }

    pub(crate) fn rewritten_to(mut self, id: &CommitId) -> Self {
        self.rewritten_to = Some(id.clone());
        self
    }

    pub(crate) fn rollback(mut self) -> Self {
        self.rollback = true;
        self
    }
}

impl Platform {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let signer = Signer::new();
        let key = signer.key("forge", "ed25519", "never", Some("20250101T000000"));
        let platform = Self { pin: signer.pin(&key), key, signer, folder };
        platform.git(&["init", "--quiet", "-b", "main"]);
        platform
    }

    /// Runs `git` in the repository and returns what it writes.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repository(), args)
    }

    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        std::fs::create_dir_all(folder).unwrap();
        let output = Command::new("git")
            .current_dir(folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GNUPGHOME", self.signer.home())
            .envs([("GIT_AUTHOR_NAME", "Dev"), ("GIT_AUTHOR_EMAIL", "dev@example.com")])
            .envs([("GIT_COMMITTER_NAME", "Forge"), ("GIT_COMMITTER_EMAIL", "noreply@forge.example")])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("platform")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// The private copy inside the cache.
    pub(crate) fn copy(&self) -> PathBuf {
        self.cache().join("repository.git")
    }

    pub(crate) fn head(&self) -> CommitId {
        self.id("HEAD")
    }

    pub(crate) fn id(&self, name: &str) -> CommitId {
        self.git(&["rev-parse", name]).parse().unwrap()
    }

    /// Commits a file, signed by the pinned key.
    pub(crate) fn signed(&self, text: &str) -> CommitId {
        self.commit(text, &[&format!("-S{}", self.key)])
    }

    pub(crate) fn unsigned(&self, text: &str) -> CommitId {
        self.commit(text, &["--no-gpg-sign"])
    }

    pub(crate) fn commit(&self, text: &str, options: &[&str]) -> CommitId {
        std::fs::create_dir_all(self.repository().join("apps")).unwrap();
        std::fs::write(self.repository().join("apps/a.yaml"), text).unwrap();
        self.git(&["add", "--all"]);
        let mut args = vec!["commit", "--quiet", "--allow-empty", "-m", text];
        args.extend(options);
        self.git(&args);
        self.head()
    }

    /// Merges a branch with a merge commit, signed by the pinned key.
    pub(crate) fn merge(&self, branch: &str) -> CommitId {
        let key = format!("-S{}", self.key);
        self.git(&["merge", "--quiet", "--no-ff", "-X", "theirs", "-m", "Merge", &key, branch]);
        self.head()
    }

    pub(crate) fn ask(&self) -> Ask {
        Ask {
            repository: format!("file://{}", self.repository().display()),
            branch: "main".to_owned(),
            wanted: Wanted::Tip,
            running: None,
            highest_tip: None,
            rewritten_to: None,
            rollback: false,
            cache: self.cache(),
            git: PathBuf::from("git"),
            environment: vec![("PATH".into(), search_path())],
            timeout: Duration::from_mins(1),
        }
    }

    pub(crate) fn verify(&self, ask: &Ask) -> Result<Verified, SourceError> {
        verify_with(ask, self.pin.clone())
    }

    pub(crate) fn accepts(&self, ask: &Ask, want: Position) -> Verified {
        let verified = self.verify(ask).unwrap();
        assert_eq!(verified.position, want);
        verified
    }

    /// Demands a refusal with the given code.
    pub(crate) fn refuses(&self, ask: &Ask, code: &str) -> String {
        refused(self.verify(ask), code)
    }
}

pub(crate) fn verify_with(ask: &Ask, pin: Pin) -> Result<Verified, SourceError> {
    let keyring = Keyring::new(vec![pin]).unwrap();
    block_on(crate::fetch_and_verify(&ask.request(), &keyring, now()))
}

pub(crate) fn unsigned(ask: &Ask) -> Result<Unsigned, SourceError> {
    block_on(crate::fetch_unsigned(&ask.request()))
}

/// Demands an error with the given code and the exit code that belongs to it; returns its text.
pub(crate) fn refused<T>(result: Result<T, SourceError>, code: &str) -> String {
    let Err(error) = result else { panic!("accepted instead of {code}") };
    assert_eq!(error.code(), code, "{error}");
    assert!(!error.hint().is_empty());
    let exit = match code {
        "not-a-commit" | "unsafe-tree" | "bad-address" | "bad-branch" => ExitCode::BadInput,
        "fetch-failed" => ExitCode::Unreachable,
        "cache-failed" | "engine-failed" => ExitCode::Error,
        _ => ExitCode::Refused,
    };
    assert_eq!(error.exit_code(), exit, "{error}");
    error.to_string()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[expect(clippy::disallowed_methods, reason = "gpg signs with the real clock")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

#[expect(clippy::disallowed_methods, reason = "a test stands in for the binary")]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap()
}
