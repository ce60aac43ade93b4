//! How the stage fails.

use windlass_model::ExitCode;
use windlass_trust::SignatureError;

use crate::refusal::Refusal;

/// Says why the stage did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The commit may not be delivered.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The repository's address cannot be used.
    #[error("the repository address is not usable: {problem}")]
    Address {
        /// What is wrong.
        problem: &'static str,
    },
    /// The branch's name is not one.
    #[error("`{branch}` is not usable as the protected branch: {problem}")]
    Branch {
        /// The name, escaped.
        branch: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The repository has no such branch.
    #[error("{repository} has no branch `{branch}`")]
    NoSuchBranch {
        /// The repository's address without credentials.
        repository: String,
        /// The branch.
        branch: String,
    },
    /// Fetching failed: nothing is known about the commit.
    #[error("fetching from {repository} failed: {problem}")]
    Fetch {
        /// The repository's address without credentials.
        repository: String,
        /// How.
        problem: FetchProblem,
    },
    /// The private copy cannot be read or written.
    #[error("the repository copy `{path}` cannot be used: {problem}")]
    Cache {
        /// The file or folder.
        path: String,
        /// What the system says.
        problem: String,
    },
    /// The signature could not be checked.
    #[error("the signature could not be checked: {problem}")]
    Engine {
        /// What GnuPG says.
        problem: String,
    },
}

/// How fetching failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchProblem {
    /// The program cannot be started.
    #[error("`{program}` cannot be started: {problem}")]
    NoGit {
        /// The program.
        program: String,
        /// What the system says.
        problem: String,
    },
    /// It took too long.
    #[error("no end after {seconds} s")]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// Another run works with the private copy.
    #[error("another run has been using the repository copy for {seconds} s")]
    Busy {
        /// The limit.
        seconds: u64,
    },
    /// The program failed.
    #[error("git says: {0}")]
    Git(String),
}

impl SourceError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Address { .. } => "bad-address",
            Self::Branch { .. } | Self::NoSuchBranch { .. } => "bad-branch",
            Self::Fetch { .. } => "fetch-failed",
            Self::Cache { .. } => "cache-failed",
            Self::Engine { .. } => "engine-failed",
        }
    }

    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Address { .. } => "correct `repository` in the environment file",
            Self::Branch { .. } | Self::NoSuchBranch { .. } => "correct `branch` in the environment file",
            Self::Fetch { problem, .. } => problem.hint(),
            Self::Cache { .. } => {
                "check that the folder is writable for this user and that the disk has room"
            }
            Self::Engine { .. } => "check that gpg is installed and works: `gpg --version`",
        }
    }

    /// Returns the exit code: 4 for a refusal, 65 for bad input, 69 when the repository was not reached, 1 when
    /// the machine failed.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Refused(refusal) => refusal.exit_code(),
            Self::Address { .. } | Self::Branch { .. } | Self::NoSuchBranch { .. } => ExitCode::BadInput,
            Self::Fetch { .. } => ExitCode::Unreachable,
            Self::Cache { .. } | Self::Engine { .. } => ExitCode::Error,
        }
    }
}

impl FetchProblem {
    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoGit { .. } => "install git on the agent",
            Self::Timeout { .. } => "run again; if the repository is large, raise `timeouts.fetch`",
            Self::Busy { .. } => "wait for the other run, or end it",
            Self::Git(_) => {
                "check the network, the address and the agent's right to read the repository, then run again"
            }
        }
    }
}

impl SourceError {
    pub(crate) fn cache(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::Cache { path: path.display().to_string(), problem: error.to_string() }
    }

    /// Attaches the commit to what the trust crate says about its signature.
    pub(crate) fn signature(id: &windlass_model::CommitId, error: SignatureError) -> Self {
        match error {
            SignatureError::Refused(refusal) => Refusal::Signature { id: id.clone(), refusal }.into(),
            other => Self::Engine { problem: other.to_string() },
        }
    }
}
