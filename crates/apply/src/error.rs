//! How applying and pruning can end early.

use windlass_cluster::ClusterError;
use windlass_model::{ApplySetError, ExitCode, ObjectRef, UnitName};

use crate::Pruned;

/// Says why an approved plan was not carried out, or not to its end.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApplyError {
    /// The plan may not be carried out at all. Nothing was sent.
    #[error("the plan cannot be carried out: {reason}")]
    NotExecutable {
        /// Why.
        reason: String,
    },
    /// The plan is not the plan of what is to be applied. Nothing was sent.
    #[error("the plan and the rendering do not belong together: {what}")]
    Mismatch {
        /// What differs.
        what: String,
    },
    /// A unit's set may not be changed. Nothing was sent.
    #[error("the ApplySet of unit `{unit}` cannot be used")]
    Set {
        /// The unit.
        unit: UnitName,
        /// Why.
        source: ApplySetError,
    },
    /// The cluster could not be asked. Nothing was written.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The cluster changed since the plan was made. No object was written.
    #[error("the cluster changed since the plan was made: {}", first(failures))]
    Stale {
        /// The objects that are not as the plan saw them.
        failures: Vec<ObjectFailure>,
    },
    /// Some objects could not be applied. Nothing was pruned.
    #[error("{} applied, {} failed, nothing was pruned: {}", objects(applied.len()), failures.len(), first(failures))]
    Partial {
        /// What was written.
        applied: Vec<ObjectRef>,
        /// What was not.
        failures: Vec<ObjectFailure>,
    },
    /// An object could not be pruned; nothing was deleted after it.
    #[error("{} pruned, then a deletion failed: {}", objects(pruned.deleted.len()), first(failures))]
    Prune {
        /// What was pruned.
        pruned: Box<Pruned>,
        /// What was not.
        failures: Vec<ObjectFailure>,
    },
    /// The API server stopped answering, and no other failure came before. Nothing is pruned after it.
    #[error("the API server stopped answering after {}: {}", objects(touched.len()), first(failures))]
    Unanswered {
        /// What was written or deleted.
        touched: Vec<ObjectRef>,
        /// What was not, or of what that is not known.
        failures: Vec<ObjectFailure>,
    },
    /// The run was told to stop. The answers to what had been sent were awaited.
    #[error("stopped after writing {}", objects(touched.len()))]
    Interrupted {
        /// What was written or deleted.
        touched: Vec<ObjectRef>,
    },
}

/// An object that could not be written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectFailure {
    /// The object.
    pub object: ObjectRef,
    /// What is wrong; never holds content of a Secret.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl ApplyError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotExecutable { .. } | Self::Set { .. } => ExitCode::Refused,
            Self::Mismatch { .. } => ExitCode::Error,
            Self::Cluster(error) => error.exit_code(),
            Self::Stale { .. } => ExitCode::Stale,
            Self::Partial { .. } | Self::Prune { .. } => ExitCode::ApplyFailed,
            Self::Unanswered { .. } => ExitCode::Unreachable,
            Self::Interrupted { .. } => ExitCode::Interrupted,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotExecutable { .. } => "resolve what the plan names, then plan again".to_owned(),
            Self::Mismatch { .. } => "this is a defect of Windlass: please report it".to_owned(),
            Self::Set { source, .. } => source.hint().to_owned(),
            Self::Cluster(error) => error.hint(),
            Self::Stale { .. } => "run the same command again: it plans anew".to_owned(),
            Self::Partial { failures, .. }
            | Self::Prune { failures, .. }
            | Self::Unanswered { failures, .. } => {
                failures.first().map(|failure| failure.hint.clone()).unwrap_or_default()
            }
            Self::Interrupted { .. } => "run the same command again: it goes on from here".to_owned(),
        }
    }

    /// Returns the objects that could not be written or deleted.
    pub fn failures(&self) -> &[ObjectFailure] {
        match self {
            Self::Stale { failures }
            | Self::Partial { failures, .. }
            | Self::Prune { failures, .. }
            | Self::Unanswered { failures, .. } => failures,
            _ => &[],
        }
    }

    /// Returns the objects that were written or deleted before the error.
    pub fn touched(&self) -> &[ObjectRef] {
        match self {
            Self::Partial { applied, .. } => applied,
            Self::Prune { pruned, .. } => &pruned.deleted,
            Self::Interrupted { touched } | Self::Unanswered { touched, .. } => touched,
            _ => &[],
        }
    }
}

fn first(failures: &[ObjectFailure]) -> String {
    let Some(failure) = failures.first() else { return "no object".to_owned() };
    match failures.len() {
        1 => format!("{}: {}", failure.object, failure.message),
        count => format!("{}: {} (and {} more)", failure.object, failure.message, count - 1),
    }
}

fn objects(count: usize) -> String {
    if count == 1 { "1 object".to_owned() } else { format!("{count} objects") }
}
