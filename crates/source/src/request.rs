//! What the stage is asked for.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use windlass_model::CommitId;

/// Which commit to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The branch's tip, as the server reports it now.
    Tip,
    /// This commit.
    Commit(CommitId),
}

/// Where a commit comes from and what it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The repository: a `file://`, `ssh://` or `https://` address.
    pub repository: &'a str,
    /// The protected branch, without `refs/heads/`.
    pub branch: &'a str,
    /// Which commit.
    pub wanted: &'a Wanted,
    /// The commit that was last delivered completely, if any.
    pub running: Option<&'a CommitId>,
    /// The newest tip that any earlier run saw, if any. A server that reports an older one is refused.
    pub highest_tip: Option<&'a CommitId>,
    /// Where a branch that was rewritten on purpose goes on, if nothing was delivered from it yet: what lies before counts
    /// as older than what runs.
    pub rewritten_to: Option<&'a CommitId>,
    /// Whether an older commit than [`Self::running`] may be delivered.
    pub rollback: bool,
    /// The folder for the private copy of the repository. It is created; nobody else may write to it.
    pub cache: &'a Path,
    /// The `git` program.
    pub git: &'a Path,
    /// The caller's environment. Only what reaches a remote is passed on to `git`: `PATH`, `HOME` (for
    /// `.netrc` and SSH keys), `SSH_AUTH_SOCK`, `GIT_SSH_COMMAND`, `GIT_ASKPASS`, `SSH_ASKPASS`, proxies,
    /// certificate bundles, `TMPDIR`.
    pub environment: &'a [(OsString, OsString)],
    /// How long waiting for the cache and fetching may take, each.
    pub fetch_timeout: Duration,
}
