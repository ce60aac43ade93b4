//! What an environment had received before a plan was made.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CommitId, RunId};

/// What an environment was delivered before a plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Before {
    /// The last delivery that went through all stages, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<CompletedRun>,
    /// A later run that began to write and has not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedRun>,
}

/// A run that began to write and has not gone through all stages: what runs now may be of its commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfinishedRun {
    /// The run.
    pub run: RunId,
    /// Its commit, if its record names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The first line of the commit's message: untrusted text. Empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
}

/// A delivery that went through all stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompletedRun {
    /// The run.
    pub run: RunId,
    /// The commit; absent for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// When it ended.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
}
