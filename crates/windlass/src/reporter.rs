//! Takes every event of a run: tells it, writes it to the journal, keeps it for the run record.

use std::io::Stderr;
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;
use windlass_model::{Event, Level, MutationResult, ObjectRef, Sink};
use windlass_record::{Journal, StageRecord};
use windlass_report::{Narrator, Terminal};

/// The sink of a command.
pub(crate) struct Reporter {
    narrator: Narrator<Stderr>,
    journal: OnceLock<Journal>,
    stages: Mutex<Vec<StageRecord>>,
    touched: Mutex<Vec<ObjectRef>>,
    /// Cancelled when the journal cannot be written: no write may go unrecorded.
    stop: CancellationToken,
}

impl Reporter {
    /// Tells events on standard error; `stop` is cancelled when journalling fails.
    pub(crate) fn new(terminal: Terminal, stop: CancellationToken) -> Self {
        Self {
            narrator: Narrator::new(std::io::stderr(), terminal),
            journal: OnceLock::new(),
            stages: Mutex::default(),
            touched: Mutex::default(),
            stop,
        }
    }

    /// Writes events to this journal from now on.
    pub(crate) fn journal_to(&self, journal: Journal) {
        // A command opens one journal at most.
        self.journal.set(journal).ok();
    }

    /// Tells a line that is not worth an event of its own kind.
    pub(crate) fn say(&self, level: Level, text: impl Into<String>) {
        self.emit(Event::Message { level, text: text.into() });
    }

    /// Returns the stages that ended, in order.
    pub(crate) fn stages(&self) -> Vec<StageRecord> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the objects that were written, in order.
    pub(crate) fn touched(&self) -> Vec<ObjectRef> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Sink for Reporter {
    fn emit(&self, event: Event) {
        if let Some(journal) = self.journal.get()
            && let Err(error) = journal.append(&event)
        {
            self.stop.cancel();
            let text =
                format!("the journal {} cannot be written, stopping: {error}", journal.path().display());
            self.narrator.tell(&Event::Message { level: Level::Error, text });
        }
        match &event {
            Event::StageFinished { stage, outcome, milliseconds } => {
                let record =
                    StageRecord { stage: *stage, outcome: outcome.clone(), milliseconds: *milliseconds };
                self.stages.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            }
            Event::Answered { mutation, result: MutationResult::Done } => {
                self.touched.lock().unwrap_or_else(PoisonError::into_inner).push(mutation.object.clone());
            }
            _ => {}
        }
        self.narrator.tell(&event);
    }
}
