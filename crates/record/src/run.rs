//! The record of one run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_model::{CommitId, Digest, EnvironmentName, ObjectRef, RunId, Signer, StageOutcome};
use windlass_model::{Counts, Stage};

use crate::RecordError;

/// The longest record, in bytes of JSON: a fifth of what a ConfigMap holds.
const LIMIT: usize = 200 * 1024;
/// The longest free text, in bytes.
const TEXT: usize = 4 * 1024;

/// What one run did, for `history` and `show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The run.
    pub id: RunId,
    /// The command: `run`, `rollback`…
    pub command: String,
    /// The environment.
    pub environment: EnvironmentName,
    /// The commit; `None` for a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The first line of the commit's message: untrusted text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Who signed the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// Who started the run, as the agent knows them.
    pub actor: String,
    /// Why, in their words; a rollback has a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it runs, or if it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The name of the exit code; `None` while it runs, or if it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The stages that ended, in order.
    #[serde(default)]
    pub stages: Vec<StageRecord>,
    /// How many objects each operation touches, by the operation's word, and `problems`.
    #[serde(default)]
    pub counts: BTreeMap<String, usize>,
    /// The change digest of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_digest: Option<Digest>,
    /// The evidence of the approval, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Value>,
    /// Why the run stopped, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The objects that were written, or the first of them if there are too many to keep.
    #[serde(default)]
    pub touched: Vec<String>,
    /// How many objects were written.
    #[serde(default)]
    pub touched_count: usize,
}

/// How one stage ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// The stage.
    pub stage: Stage,
    /// How.
    #[serde(flatten)]
    pub outcome: StageOutcome,
    /// How long it took.
    pub milliseconds: u64,
}

impl RunRecord {
    /// Returns the record of a run that begins.
    pub fn begin(
        id: RunId,
        command: &str,
        environment: EnvironmentName,
        actor: &str,
        started_at: Timestamp,
    ) -> Self {
        Self {
            id,
            command: command.to_owned(),
            environment,
            commit: None,
            subject: String::new(),
            signer: None,
            actor: actor.to_owned(),
            reason: None,
            started_at,
            finished_at: None,
            outcome: None,
            stages: Vec::new(),
            counts: BTreeMap::new(),
            change_digest: None,
            approval: None,
            failure: None,
            touched: Vec::new(),
            touched_count: 0,
        }
    }

    /// Takes down that an object was written.
    pub fn touch(&mut self, object: &ObjectRef) {
        self.touched.push(object.to_string());
        self.touched_count += 1;
    }

    /// Takes down a plan's counts.
    pub fn count(&mut self, counts: &Counts) {
        self.counts =
            counts.by_operation.iter().map(|(operation, n)| (operation.word().to_owned(), *n)).collect();
        self.counts.insert("problems".to_owned(), counts.problems);
    }

    /// Returns the JSON that is kept, at most 200 KiB: free texts are cut, and the list of written objects is
    /// halved until the whole fits.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] if it does not fit even without that list.
    pub(crate) fn to_text(&self) -> Result<String, RecordError> {
        let mut kept = self.clone();
        kept.subject = cut(&kept.subject);
        kept.reason = kept.reason.as_deref().map(cut);
        kept.failure = kept.failure.as_deref().map(cut);
        loop {
            let text = serde_json::to_string(&kept).map_err(|error| RecordError::Unreadable {
                object: self.id.to_string(),
                reason: error.to_string(),
            })?;
            if text.len() <= LIMIT {
                return Ok(text);
            }
            if kept.touched.is_empty() {
                return Err(RecordError::TooLarge { run: self.id.clone(), bytes: text.len(), limit: LIMIT });
            }
            kept.touched.truncate(kept.touched.len() / 2);
        }
    }
}

/// Cuts a free text, never inside a character.
fn cut(text: &str) -> String {
    if text.len() <= TEXT {
        return text.to_owned();
    }
    let mut end = TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use windlass_model::GroupKind;

    use super::*;

    fn record() -> RunRecord {
        let environment = EnvironmentName::new("prd").unwrap();
        let id = RunId::parse("20261130-164536-k3f9").unwrap();
        RunRecord::begin(id, "run", environment, "someone", Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_record_reads_what_it_writes() {
        let mut record = record();
        record.stages.push(StageRecord {
            stage: Stage::Verify,
            outcome: StageOutcome::Failed { reason: "unsigned".into() },
            milliseconds: 12,
        });
        record.outcome = Some("refused".into());
        let text = record.to_text().unwrap();
        assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    }

    #[test]
    fn many_written_objects_are_cut_and_still_counted() {
        let mut record = record();
        for number in 0..20_000 {
            record.touch(&ObjectRef {
                kind: GroupKind::new("apps", "StatefulSet"),
                version: "v1".into(),
                namespace: Some("shop".into()),
                name: format!("database-{number}"),
            });
        }
        let kept: RunRecord = serde_json::from_str(&record.to_text().unwrap()).unwrap();
        assert_eq!(kept.touched_count, 20_000);
        assert!(!kept.touched.is_empty() && kept.touched.len() < 20_000);
        assert_eq!(kept.touched[0], "StatefulSet.apps shop/database-0");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut record = record();
        record.failure = Some("é".repeat(TEXT));
        let kept: RunRecord = serde_json::from_str(&record.to_text().unwrap()).unwrap();
        assert_eq!(kept.failure.unwrap().chars().count(), TEXT / 2 + 1);
        record.approval = Some("x".repeat(LIMIT).into());
        assert!(matches!(record.to_text(), Err(RecordError::TooLarge { .. })));
    }
}
