//! `windlass status`: what runs, and is anything under way?

use std::fmt::Write as _;

use serde_json::json;
use windlass_model::ExitCode;
use windlass_record::Lock;

use crate::args::EnvironmentArguments;
use crate::error::CommandError;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn status(
    arguments: &EnvironmentArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.env, "status", shell, surroundings).await?;
    let state = session.store.state().await?;
    let lock = Lock::status(&session.store).await?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "environment  {} on {} ({})",
        session.name, session.cluster_id.server, session.cluster_id.version
    );
    match &state.last_completed {
        Some(last) => {
            let commit = last.commit.as_ref().map_or("a directory", |commit| commit.as_str());
            let _ = writeln!(
                text,
                "delivered    {commit} by run {} at {}",
                last.run,
                last.at.strftime("%Y-%m-%dT%H:%M:%SZ")
            );
        }
        None => text.push_str("delivered    nothing yet\n"),
    }
    if let Some(previous) = state.rollback_target().and_then(|previous| previous.commit.as_ref()) {
        let _ = writeln!(text, "before it    {previous}");
    }
    if let Some(run) = &state.current {
        let _ = writeln!(text, "unfinished   run {run}: `windlass show {run}` says how far it came");
    }
    let newest = session.store.history(1).await?.runs.into_iter().next();
    if let Some(newest) = &newest {
        let outcome = newest.outcome.as_deref().unwrap_or("unfinished");
        let _ = writeln!(
            text,
            "last run     {} ({}): {outcome}",
            newest.id,
            windlass_report::clean(&newest.command)
        );
    }
    match &lock {
        Some(lock) => {
            let _ = writeln!(text, "lock         {}", windlass_report::clean(&lock.to_string()));
        }
        None => text.push_str("lock         free\n"),
    }
    shell.result(
        &text,
        || json!({"state": state, "lastRun": newest, "lock": lock, "cluster": session.cluster_id}),
        ExitCode::Ok,
    );
    Ok(ExitCode::Ok)
}
