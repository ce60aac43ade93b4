//! How the gate says no.

use windlass_cluster::ClusterError;
use windlass_model::ExitCode;

use crate::Finding;

/// Says why the gate stays closed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GateError {
    /// Policies are not known to be enforced.
    #[error("{}", headline(.findings))]
    NotReady {
        /// Everything that was found, policy by policy.
        findings: Vec<Finding>,
    },
    /// The environment file names no policy and gives no reason.
    #[error("no policy is expected, and no reason is given")]
    Undecided,
    /// The cluster could not be asked.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

fn headline(findings: &[Finding]) -> String {
    match findings {
        [] => "the policies are not ready".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more findings)", rest.len()),
    }
}

impl GateError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotReady { .. } | Self::Undecided => ExitCode::Refused,
            Self::Cluster(error) => error.exit_code(),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotReady { findings } => findings.first().map_or("", |finding| finding.hint).to_owned(),
            Self::Undecided => {
                "list the policies under `policies` in the environment file, or say in `policies.none` why there are none".to_owned()
            }
            Self::Cluster(error) => error.hint(),
        }
    }
}
