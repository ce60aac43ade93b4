//! How a command fails: an exit code, and what a person reads. All conversions are here.

use windlass_apply::ApplyError;
use windlass_approve::SignError;
use windlass_cluster::ClusterError;
use windlass_gate::GateError;
use windlass_model::{CommitIdError, ExitCode};
use windlass_record::{LockError, RecordError};
use windlass_render::{RenderError, RenderErrors};
use windlass_report::{Report, diagnosis_text};
use windlass_rollout::{RolloutError, SmokeError};
use windlass_settings::SettingsErrors;
use windlass_source::SourceError;
use windlass_trust::KeyringError;

/// What stops a command.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    /// The exit code.
    pub(crate) code: ExitCode,
    /// What happened and what to do.
    pub(crate) report: Report,
}

impl CommandError {
    /// Makes an error of one line and a hint.
    pub(crate) fn new(code: ExitCode, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, report: Report { what: what.into(), hints: vec![hint.into()], ..Report::default() } }
    }

    /// Adds a detail.
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.report.details.push(detail.into());
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.report.hints.push(hint.into());
        self
    }

    /// Makes an error about a file that cannot be read or written.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound, StorageFull};
        let bad_input = matches!(error.kind(), NotFound | InvalidData | IsADirectory | NotADirectory);
        let code = if bad_input { ExitCode::BadInput } else { ExitCode::Error };
        if error.kind() == StorageFull {
            return Self::new(code, format!("{}: {error}", path.display()), "free some room on the disk");
        }
        Self::new(code, format!("{}: {error}", path.display()), "check the path and its permissions")
    }

    /// Makes an error of a file that a user wrote, each mistake with its line.
    pub(crate) fn settings(errors: &SettingsErrors, text: &str, file: &str) -> Self {
        let count = errors.all().len();
        let what = format!("{file} has {count} mistake{}", if count == 1 { "" } else { "s" });
        let details = errors.all().iter().map(|error| error.render(text).trim_end().to_owned()).collect();
        let hints = vec!["docs/reference describes every key".to_owned()];
        Self { code: ExitCode::BadInput, report: Report { what, details, hints, ..Report::default() } }
    }

    /// Makes an error of a command that was stopped by a signal.
    pub(crate) fn interrupted() -> Self {
        let hint = "run the same command again: it finishes the work";
        Self::new(ExitCode::Interrupted, "stopped by a signal; nothing was pruned", hint)
    }
}

impl From<ClusterError> for CommandError {
    fn from(error: ClusterError) -> Self {
        Self::new(error.exit_code(), error.to_string(), error.hint())
    }
}

impl From<SourceError> for CommandError {
    fn from(error: SourceError) -> Self {
        Self::new(error.exit_code(), format!("{} [{}]", error, error.code()), error.hint())
    }
}

impl From<CommitIdError> for CommandError {
    fn from(error: CommitIdError) -> Self {
        let hint = "write the whole id: `git rev-parse REF` prints it";
        Self::new(ExitCode::BadInput, format!("{error} [bad-oid]"), hint)
    }
}

impl From<KeyringError> for CommandError {
    fn from(error: KeyringError) -> Self {
        let code = if error.is_infrastructure() { ExitCode::Error } else { ExitCode::BadInput };
        Self::new(code, format!("{} [{}]", error, error.code()), error.hint())
    }
}

impl From<SignError> for CommandError {
    fn from(error: SignError) -> Self {
        Self::new(ExitCode::BadInput, error.to_string(), error.hint())
    }
}

impl From<RenderError> for CommandError {
    fn from(error: RenderError) -> Self {
        Self::new(ExitCode::BadInput, error.to_string(), error.hint())
    }
}

impl From<RenderErrors> for CommandError {
    fn from(errors: RenderErrors) -> Self {
        let count = errors.0.len();
        let what =
            format!("the tree cannot be rendered: {count} problem{}", if count == 1 { "" } else { "s" });
        let mut report = Report { what, ..Report::default() };
        for error in &errors.0 {
            report.details.push(error.to_string());
            push_once(&mut report.hints, &error.hint());
        }
        Self { code: ExitCode::BadInput, report }
    }
}

impl From<RecordError> for CommandError {
    fn from(error: RecordError) -> Self {
        Self::new(error.exit_code(), error.to_string(), error.hint())
    }
}

impl From<LockError> for CommandError {
    fn from(error: LockError) -> Self {
        Self::new(error.exit_code(), error.to_string(), error.hint())
    }
}

impl From<GateError> for CommandError {
    fn from(error: GateError) -> Self {
        let mut command = Self::new(
            error.exit_code(),
            error.to_string(),
            "nothing is applied while a policy is not enforced",
        );
        if let GateError::NotReady { findings } = &error {
            command.report.hints.clear();
            for finding in findings {
                command.report.details.push(finding.to_string());
                push_once(&mut command.report.hints, finding.hint);
            }
        }
        command
    }
}

impl From<ApplyError> for CommandError {
    fn from(error: ApplyError) -> Self {
        let mut command = Self::new(error.exit_code(), error.to_string(), error.hint());
        for failure in error.failures() {
            command.report.details.push(format!("{}: {}", failure.object, failure.message));
            push_once(&mut command.report.hints, &failure.hint);
        }
        command
    }
}

impl From<RolloutError> for CommandError {
    fn from(error: RolloutError) -> Self {
        let mut command = Self::new(error.exit_code(), error.to_string(), error.hint());
        let (failures, unfinished) = match &error {
            RolloutError::Failed { failures, unfinished }
            | RolloutError::TimedOut { failures, unfinished } => (failures.as_slice(), unfinished.as_slice()),
            RolloutError::Interrupted { unfinished } => (&[][..], unfinished.as_slice()),
            RolloutError::Cluster(_) => (&[][..], &[][..]),
        };
        for failure in failures {
            let text = diagnosis_text(&failure.object, &failure.reason, &failure.diagnosis);
            command.report.details.push(text);
        }
        for waiting in unfinished {
            command.report.details.push(format!("{}: {}", waiting.object, waiting.reason));
        }
        command
    }
}

impl From<SmokeError> for CommandError {
    fn from(error: SmokeError) -> Self {
        let mut command = Self::new(error.exit_code(), error.to_string(), error.hint());
        if let SmokeError::Failed { failures } = &error {
            for failure in failures {
                let tries = if failure.attempts == 1 { "attempt" } else { "attempts" };
                command
                    .report
                    .details
                    .push(format!("{}: {} ({} {tries})", failure.probe, failure.reason, failure.attempts));
            }
        }
        command
    }
}

fn push_once(hints: &mut Vec<String>, hint: &str) {
    if !hint.is_empty() && !hints.iter().any(|known| known == hint) {
        hints.push(hint.to_owned());
    }
}
