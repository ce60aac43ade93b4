//! `windlass rollback`: deliver the previous completed commit again, by the same stages.

use windlass_model::{CommitId, ExitCode};
use windlass_record::EnvironmentState;
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

/// Returns what to go back to. When a newer commit was begun and not completed, that is the last completed
/// one; else the one before it.
async fn previous(session: &Session, state: &EnvironmentState) -> Result<CommitId, CommandError> {
    let last = state.last_completed.as_ref().and_then(|delivered| delivered.commit.as_ref());
    let begun = match &state.current {
        Some(run) => session.store.load(run).await?.and_then(|record| record.commit),
        None => None,
    };
    let half_way = begun.is_some() && begun.as_ref() != last;
    let target =
        if half_way { last } else { state.rollback_target().and_then(|delivered| delivered.commit.as_ref()) };
    target.cloned().ok_or_else(|| {
        let what = "there is no earlier completed commit to go back to";
        CommandError::new(
            ExitCode::Refused,
            what,
            "deliver a revert as a new commit; `windlass history` lists what ran",
        )
    })
}
