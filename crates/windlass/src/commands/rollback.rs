//! `windlass rollback`: deliver the previous completed commit again, by the same stages.

use windlass_model::{CommitId, ExitCode};
use windlass_record::{EnvironmentState, RunRecord};
use windlass_source::Wanted;

use crate::args::RollbackArguments;
use crate::error::CommandError;
use crate::executor::delivery::{Order, deliver};
use crate::executor::desired::From;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn rollback(
    arguments: &RollbackArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let reason = arguments.reason.trim();
    if reason.is_empty() {
        return Err(CommandError::new(
            ExitCode::Usage,
            "the reason is empty",
            "say why with --reason; it is recorded",
        ));
    }
    let session = Session::open(&arguments.delivery.environment.env, "rollback", shell, surroundings).await?;
    let session = session.remembering(arguments.delivery.no_memo);
    let state = session.store.state().await?;
    let target = match &arguments.to {
        Some(text) => named(&state, text.parse()?)?,
        None => previous(&session, &state).await?,
    };
    let from = From::Commit { wanted: Wanted::Commit(target), rollback: true };
    deliver(&session, &arguments.delivery, Order { from, rollback: Some(reason.to_owned()), digest: None })
        .await
}

/// Only what was completed here before is gone back to: anything else was never seen to work.
fn named(state: &EnvironmentState, commit: CommitId) -> Result<CommitId, CommandError> {
    let known: Vec<&CommitId> = state
        .last_completed
        .iter()
        .chain(&state.previous)
        .filter_map(|delivered| delivered.commit.as_ref())
        .collect();
    if known.contains(&&commit) {
        return Ok(commit);
    }
    let list: Vec<&str> = known.iter().map(|commit| commit.as_str()).collect();
    let what = format!("commit {commit} was never completed in this environment");
    Err(CommandError::new(
        ExitCode::Refused,
        what,
        "name one of the completed commits, or deliver a revert as a new commit",
    )
    .detail(format!("completed: {}", if list.is_empty() { "none".to_owned() } else { list.join(", ") })))
}

/// Returns what to go back to.
async fn previous(session: &Session, state: &EnvironmentState) -> Result<CommitId, CommandError> {
    let unfinished = match &state.current {
        Some(run) => Some(session.store.load(run).await?.ok_or_else(|| {
            let what = format!(
                "run {run} did not complete, and its record is gone: where to go back to cannot be told"
            );
            CommandError::new(
                ExitCode::Refused,
                what,
                "name the commit with --to; `windlass status` says what was delivered last",
            )
        })?),
        None => None,
    };
    target(state, unfinished.as_ref()).ok_or_else(|| {
        let what = "there is no earlier completed commit to go back to";
        let hint = "deliver a revert as a new commit; `windlass history` lists what ran";
        CommandError::new(ExitCode::Refused, what, hint)
    })
}

/// Decides by what is delivered and by the run that began last and did not complete:
/// a rollback that failed is tried again; behind a newer commit that failed lies the last completed one; and
/// behind the last completed commit the one before it.
fn target(state: &EnvironmentState, unfinished: Option<&RunRecord>) -> Option<CommitId> {
    let last = state.last_completed.as_ref().and_then(|delivered| delivered.commit.clone());
    match unfinished {
        Some(record) if record.command == "rollback" && record.commit.is_some() => record.commit.clone(),
        Some(record) if record.commit != last => last,
        _ => state.rollback_target().and_then(|delivered| delivered.commit.clone()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use windlass_model::{Digest, EnvironmentName, RunId};
    use windlass_record::Delivered;

    use super::*;

    fn commit(letter: char) -> CommitId {
        letter.to_string().repeat(40).parse().unwrap()
    }

    #[test]
    fn the_target_of_a_rollback() {
        let check = |completed: &str, unfinished: Option<(&str, char)>, want: Option<char>| {
            let run = RunId::parse("r").unwrap();
            let mut state = EnvironmentState::default();
            for letter in completed.chars() {
                state.complete(Delivered {
                    run: run.clone(),
                    commit: Some(commit(letter)),
                    tree: String::new(),
                    rendering: Digest::of_bytes(b""),
                    change_digest: Digest::of_bytes(b""),
                    at: Timestamp::UNIX_EPOCH,
                });
            }
            let record = unfinished.map(|(command, letter)| {
                let environment = EnvironmentName::new("prd").unwrap();
                let mut record =
                    RunRecord::begin(run.clone(), command, environment, "me", Timestamp::UNIX_EPOCH);
                record.commit = Some(commit(letter));
                record
            });
            assert_eq!(target(&state, record.as_ref()), want.map(commit), "{completed} {unfinished:?}");
        };
        check("", None, None);
        check("a", None, None);
        check("ab", None, Some('a'));
        // A newer commit failed: the last completed one is what worked.
        check("ab", Some(("run", 'c')), Some('b'));
        check("a", Some(("run", 'b')), Some('a'));
        check("", Some(("run", 'a')), None);
        // The same commit again failed: what came before it.
        check("ab", Some(("run", 'b')), Some('a'));
        // A rollback that failed goes on, not further back.
        check("abc", Some(("rollback", 'b')), Some('b'));
        check("abc", Some(("rollback", 'c')), Some('c'));
    }
}
