//! How probes can fail.

use windlass_model::ExitCode;

/// Says that not every probe passed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SmokeError {
    /// Probes did not pass.
    #[error("{}", headline(.failures))]
    Failed {
        /// Which, and why, in the order in which they are written.
        failures: Vec<ProbeFailure>,
    },
    /// The run was stopped.
    #[error("interrupted while probes were running")]
    Interrupted,
}

/// A probe that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeFailure {
    /// The probe's name.
    pub probe: String,
    /// What kind of failure it is.
    pub result: ProbeResult,
    /// What happened at the last attempt, in one line. May hold texts of the application.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
}

/// Whether the application answered wrongly or could not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeResult {
    /// It answered, but not as expected.
    WrongAnswer,
    /// It did not answer: no address, refused, too slow, wrong certificate.
    NoAnswer,
    /// The probe itself cannot be carried out: a file is missing, the Service does not exist.
    Unusable,
}

fn headline(failures: &[ProbeFailure]) -> String {
    match failures {
        [] => "a probe failed".to_owned(),
        [only] => format!("probe `{}` failed: {}", only.probe, only.reason),
        [first, rest @ ..] => {
            format!("probe `{}` and {} more failed: {}", first.probe, rest.len(), first.reason)
        }
    }
}

impl SmokeError {
    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed { .. } => ExitCode::SmokeFailed,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Failed { failures } => match failures.first().map(|failure| failure.result) {
                Some(ProbeResult::NoAnswer) => {
                    "the workloads are ready but not reached: look at the Service, its load balancer and the network from this machine"
                }
                Some(ProbeResult::Unusable) => "correct the probe in windlass.yaml",
                _ => {
                    "the application answers wrongly: deliver a correction or the previous commit; nothing was pruned"
                }
            },
            Self::Interrupted => "run the same command again",
        }
    }
}
