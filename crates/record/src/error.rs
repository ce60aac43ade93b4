//! What can go wrong with records and locks.

use windlass_cluster::{ClusterError, FailureKind};
use windlass_model::{ExitCode, RunId};

use crate::LockStatus;

/// Says why a record cannot be read or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordError {
    /// The namespace that holds the records is missing.
    #[error("the record namespace `{namespace}` does not exist")]
    NamespaceMissing {
        /// The namespace.
        namespace: String,
    },
    /// A record does not hold what this version of Windlass writes.
    #[error("the record `{object}` cannot be read: {reason}")]
    Unreadable {
        /// The ConfigMap or Lease, as `Kind namespace/name`.
        object: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Other writers changed the record each time before this one could.
    #[error("the record `{object}` was changed by others in each of {attempts} attempts")]
    Contended {
        /// The ConfigMap, as `Kind namespace/name`.
        object: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// A record does not fit into a ConfigMap, even without its longest parts.
    #[error("the record of run `{run}` has {bytes} bytes, at most {limit} are kept")]
    TooLarge {
        /// The run.
        run: RunId,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The API server said no, or nothing.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

impl RecordError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NamespaceMissing { .. } => ExitCode::BadInput,
            Self::Unreadable { .. } | Self::TooLarge { .. } => ExitCode::Error,
            Self::Contended { .. } => ExitCode::Locked,
            Self::Cluster(error) => error.exit_code(),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NamespaceMissing { .. } => {
                "prepare the cluster once with `kubectl apply -f pipeline/rbac/`, or correct the record namespace in the environment file".to_owned()
            }
            Self::Unreadable { object, .. } => {
                format!("use the version of Windlass that wrote it; if it was edited by hand, restore it or delete `{object}`")
            }
            Self::Contended { .. } => {
                "another program keeps writing the record: find out which, then run the same command again".to_owned()
            }
            Self::TooLarge { .. } => "this is a defect of Windlass: please report it".to_owned(),
            Self::Cluster(error) => error.hint(),
        }
    }

    /// Takes a failed creation, telling a missing record namespace from the rest.
    pub(crate) fn creating(error: ClusterError, namespace: &str) -> Self {
        match error.failure().map(windlass_cluster::Failure::kind) {
            Some(FailureKind::NamespaceMissing) => Self::NamespaceMissing { namespace: namespace.to_owned() },
            _ => Self::Cluster(error),
        }
    }
}

/// Says why the lock of an environment could not be had, kept or given up.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LockError {
    /// Another run holds it.
    #[error("environment `{}` is locked by {status}", status.environment)]
    Held {
        /// Who holds it, and since when.
        status: Box<LockStatus>,
    },
    /// It was held, and is no longer.
    #[error("run `{run}` lost the lock: {reason}")]
    Lost {
        /// The run that held it.
        run: RunId,
        /// How it was lost.
        reason: String,
    },
    /// It was held, and could not be renewed in time, so that another run may hold it by now.
    #[error("run `{run}` could not keep the lock: {error}")]
    NotRenewed {
        /// The run that held it.
        run: RunId,
        /// Why it could not be renewed.
        error: Box<ClusterError>,
    },
    /// It was to be taken from a holder that does not hold it.
    #[error("the lock is held by `{holder}`, not by `{named}`")]
    OtherHolder {
        /// Who holds it.
        holder: String,
        /// Who was named.
        named: String,
    },
    /// It was to be taken from its holder, and nobody holds it.
    #[error("nobody holds the lock")]
    Free,
    /// It cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl LockError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Held { .. } | Self::Lost { .. } => ExitCode::Locked,
            Self::NotRenewed { error, .. } => error.exit_code(),
            Self::OtherHolder { .. } => ExitCode::Refused,
            Self::Free => ExitCode::Ok,
            Self::Record(error) => error.exit_code(),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Held { status } => format!(
                "wait for that run, or wait longer with --lock-timeout; if it is dead, the lock is taken over after {} s without a sign of life; to break it by hand: windlass unlock --holder {}",
                status.duration.as_secs(),
                status.id
            ),
            Self::Lost { .. } => {
                "nothing more was sent; run the same command again: it plans anew and goes on from where this run stopped".to_owned()
            }
            Self::NotRenewed { error, .. } => format!("{}; nothing more was sent", error.hint()),
            Self::OtherHolder { holder, .. } => {
                format!("look who holds it with `windlass lock`; to break it: windlass unlock --holder {holder}")
            }
            Self::Free => "there is nothing to unlock".to_owned(),
            Self::Record(error) => error.hint(),
        }
    }
}
