//! `windlass show`: one run in full.

use std::fmt::Write as _;

use serde_json::json;
use windlass_model::{ExitCode, RunId, StageOutcome};
use windlass_record::RunRecord;
use windlass_report::{Palette, clean};

use crate::args::ShowArguments;
use crate::error::CommandError;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn show(
    arguments: &ShowArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let unknown = || {
        let what = format!("there is no run `{}`", arguments.run.escape_debug());
        CommandError::new(ExitCode::BadInput, what, "`windlass history` lists the runs")
    };
    let id = RunId::parse(&arguments.run).ok_or_else(unknown)?;
    let session = Session::open(&arguments.environment.env, "show", shell, surroundings).await?;
    let record = session.store.load(&id).await?.ok_or_else(unknown)?;
    shell.result(
        &text(&record, shell.palette()),
        // Inside a key of its own: the document's `outcome` is that of this command.
        || json!({"run": record}),
        ExitCode::Ok,
    );
    Ok(ExitCode::Ok)
}

/// Times for people: to the second, in UTC.
const SECONDS: &str = "%Y-%m-%dT%H:%M:%SZ";

fn text(record: &RunRecord, palette: Palette) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<10} {}", clean(value));
    };
    line("run", record.id.as_str());
    line("command", &record.command);
    line("commit", record.commit.as_ref().map_or("none", |commit| commit.as_str()));
    line("subject", &record.subject);
    if let Some(signer) = &record.signer {
        line("signed by", &format!("{} ({})", signer.name, signer.fingerprint));
    }
    line("started", &format!("{} by {}", record.started_at.strftime(SECONDS), record.actor));
    if let Some(finished) = &record.finished_at {
        line("finished", &finished.strftime(SECONDS).to_string());
    }
    if let Some(reason) = &record.reason {
        line("reason", reason);
    }
    if let Some(digest) = &record.change_digest {
        line("digest", &digest.to_string());
    }
    line("outcome", record.outcome.as_deref().unwrap_or("unfinished"));
    if let Some(failure) = &record.failure {
        line("failure", failure);
    }
    for stage in &record.stages {
        let (mark, words) = match &stage.outcome {
            StageOutcome::Passed { summary } => (palette.good("✓"), summary),
            StageOutcome::Skipped { reason } => (palette.dim("–"), reason),
            StageOutcome::Failed { reason } => (palette.bad("✗"), reason),
        };
        let _ = writeln!(out, "  {mark} {:<8} {}", stage.stage.name(), clean(words));
    }
    if record.touched_count > 0 {
        let plural = if record.touched_count == 1 { "" } else { "s" };
        let _ = writeln!(out, "{} write{plural}, those to the sets included:", record.touched_count);
    }
    for object in &record.touched {
        let _ = writeln!(out, "  {}", clean(object));
    }
    out
}
