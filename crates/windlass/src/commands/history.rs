//! `windlass history`: past runs, newest first.

use serde_json::json;
use windlass_model::{ExitCode, Level};
use windlass_record::RunRecord;
use windlass_report::{RunLine, history_text};

use crate::args::HistoryArguments;
use crate::error::CommandError;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn history(
    arguments: &HistoryArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.environment.env, "history", shell, surroundings).await?;
    let history = session.store.history(arguments.limit).await?;
    for problem in &history.unreadable {
        session.reporter.say(Level::Warning, problem.clone());
    }
    let lines: Vec<RunLine> = history.runs.iter().map(line).collect();
    shell.result(&history_text(&lines, shell.palette()), || json!({"runs": history.runs}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}

/// `show` has the whole text.
fn short(text: &str) -> String {
    const LENGTH: usize = 80;
    let mut short: String = text.chars().take(LENGTH).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn line(record: &RunRecord) -> RunLine {
    let commit = record.commit.as_ref().map(|commit| format!("{} ", commit.short())).unwrap_or_default();
    RunLine {
        id: record.id.to_string(),
        command: record.command.clone(),
        commit: format!("{commit}{}", record.subject),
        actor: record.actor.clone(),
        outcome: record.outcome.clone().unwrap_or_else(|| "unfinished".to_owned()),
        summary: record.failure.as_deref().map_or_else(
            || match record.touched_count {
                0 => "nothing written".to_owned(),
                1 => "1 write".to_owned(),
                count => format!("{count} writes"),
            },
            short,
        ),
    }
}
