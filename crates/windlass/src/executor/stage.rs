//! Runs one stage: announces it, times it, reports how it ended.

use std::time::Instant;

use windlass_model::{Event, Sink, Stage, StageOutcome};

use crate::error::CommandError;

/// Runs a stage. `work` returns the stage's result and one line about it.
pub(crate) async fn stage<T>(
    sink: &dyn Sink,
    stage: Stage,
    work: impl Future<Output = Result<(T, String), CommandError>>,
) -> Result<T, CommandError> {
    sink.emit(Event::StageStarted { stage });
    let started = Instant::now();
    let result = work.await;
    let outcome = match &result {
        Ok((_, summary)) => StageOutcome::Passed { summary: summary.clone() },
        Err(error) => StageOutcome::Failed { reason: error.report.what.clone() },
    };
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    sink.emit(Event::StageFinished { stage, outcome, milliseconds });
    result.map(|(value, _)| value)
}

/// Reports a stage that there is no need for.
pub(crate) fn skip(sink: &dyn Sink, stage: Stage, reason: &str) {
    let outcome = StageOutcome::Skipped { reason: reason.to_owned() };
    sink.emit(Event::StageFinished { stage, outcome, milliseconds: 0 });
}
