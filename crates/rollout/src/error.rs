//! How waiting can end badly.

use windlass_cluster::ClusterError;
use windlass_model::{Diagnosis, ExitCode, ObjectRef};

use crate::Cause;

/// Says why not everything became ready.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RolloutError {
    /// Something failed; the rest was not waited for any longer.
    #[error("{}", headline(.failures, "did not become ready"))]
    Failed {
        /// What failed.
        failures: Vec<Failure>,
        /// What was not ready either when the wait ended.
        unfinished: Vec<Unfinished>,
    },
    /// The time is over.
    #[error("{}", headline(.failures, "did not become ready in time"))]
    TimedOut {
        /// What was not ready.
        failures: Vec<Failure>,
        /// What was not ready either, without a diagnosis.
        unfinished: Vec<Unfinished>,
    },
    /// The run was stopped.
    #[error("interrupted while waiting for {} objects", .unfinished.len())]
    Interrupted {
        /// What was not ready yet.
        unfinished: Vec<Unfinished>,
    },
    /// The cluster could not be observed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// An object that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The object.
    pub object: ObjectRef,
    /// The class of the cause, if one was found.
    pub cause: Option<Cause>,
    /// Why, in one line.
    pub reason: String,
    /// What there is to see.
    pub diagnosis: Diagnosis,
}

/// An object that was not ready when the wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The object.
    pub object: ObjectRef,
    /// What was missing.
    pub reason: String,
}

fn headline(failures: &[Failure], what: &str) -> String {
    match failures {
        [] => format!("something {what}"),
        [only] => format!("{} {what}: {}", only.object, only.reason),
        [first, rest @ ..] => {
            format!("{} and {} more {what}: {}", first.object, rest.len(), first.reason)
        }
    }
}

impl RolloutError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed { .. } | Self::TimedOut { .. } => ExitCode::RolloutFailed,
            Self::Interrupted { .. } => ExitCode::Interrupted,
            Self::Cluster(error) => error.exit_code(),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Failed { failures, .. } | Self::TimedOut { failures, .. }
                if failures.iter().any(|failure| failure.cause == Some(Cause::Blocked)) =>
            {
                "delete exactly the pod that blocks (or let Windlass do it: `rollout.rescueStuckPods` in the environment file), then run the same command again".to_owned()
            }
            Self::Failed { .. } => {
                "mend the cause and deliver again, or deliver the previous commit; nothing was pruned"
                    .to_owned()
            }
            Self::TimedOut { .. } => {
                "look at what each object waits for; raise `timeouts.rollout` if it only needs more time"
                    .to_owned()
            }
            Self::Interrupted { .. } => "run the same command again: it goes on where it stopped".to_owned(),
            Self::Cluster(error) => error.hint(),
        }
    }
}
