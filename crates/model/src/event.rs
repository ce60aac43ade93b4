//! What happens during a run: shown live, written as JSON lines, stored as the run record.

use serde::{Deserialize, Serialize};

use crate::{ObjectRef, RunId, Stage, StageOutcome};

/// Something that happened. Free texts may hold untrusted content; whoever prints them sanitises them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    /// A run began.
    RunStarted {
        /// The run.
        run: RunId,
        /// The command: `run`, `drift`, `rollback`…
        command: String,
        /// The environment, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        environment: Option<String>,
    },
    /// A stage began.
    StageStarted {
        /// The stage.
        stage: Stage,
    },
    /// A stage ended.
    StageFinished {
        /// The stage.
        stage: Stage,
        /// How.
        #[serde(flatten)]
        outcome: StageOutcome,
        /// How long it took.
        milliseconds: u64,
    },
    /// Work of known size went on: objects applied, workloads ready.
    Progress {
        /// The stage.
        stage: Stage,
        /// How much is done.
        done: usize,
        /// How much there is.
        total: usize,
        /// What is being worked on or waited for.
        text: String,
    },
    /// Something to tell.
    Message {
        /// How important it is.
        level: Level,
        /// The text.
        text: String,
    },
    /// A write is about to be sent. Written to the journal before the request leaves.
    Sending {
        /// The write.
        mutation: Mutation,
    },
    /// The server answered a write.
    Answered {
        /// The write.
        mutation: Mutation,
        /// The answer.
        #[serde(flatten)]
        result: MutationResult,
    },
    /// A run ended.
    RunFinished {
        /// The exit code's name.
        outcome: String,
    },
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Should be looked at.
    Warning,
    /// Stops the run.
    Error,
}

/// A write to the cluster, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mutation {
    /// `create`, `update`, `delete`, `patch`.
    pub verb: String,
    /// The object.
    pub object: ObjectRef,
    /// The uid it must have, if it must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// How the server answered a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "result")]
pub enum MutationResult {
    /// Done.
    Done,
    /// Refused or failed.
    Failed {
        /// Why.
        message: String,
    },
    /// No answer; the write may have landed.
    Unknown {
        /// What happened instead.
        message: String,
    },
}

/// Takes events. Implemented by the binary: terminal, journal and run record at once.
pub trait Sink: Send + Sync {
    /// Takes one event. For [`Event::Sending`] it returns only once the event is on disk.
    fn emit(&self, event: Event);
}
