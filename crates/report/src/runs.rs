//! Lists of past runs.

use std::fmt::Write as _;

use crate::{Palette, clean};

/// One run in a list.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// The run's id.
    pub id: String,
    /// The command.
    pub command: String,
    /// The short commit id and the subject.
    pub commit: String,
    /// Who started it.
    pub actor: String,
    /// How it ended; `running` if it did not.
    pub outcome: String,
    /// What it did, in a few words.
    pub summary: String,
}

/// Returns a list of runs as aligned text.
pub fn history_text(runs: &[RunLine], palette: Palette) -> String {
    if runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let width = |field: fn(&RunLine) -> &String| {
        runs.iter().map(|run| clean(field(run)).chars().count()).max().unwrap_or_default()
    };
    let (id, command, outcome, commit) = (
        width(|run| &run.id),
        width(|run| &run.command),
        width(|run| &run.outcome),
        width(|run| &run.commit).min(60),
    );
    let mut out = String::new();
    for run in runs {
        let word = format!("{:<outcome$}", clean(&run.outcome));
        let word = if run.outcome == "ok" { palette.good(&word) } else { palette.bad(&word) };
        let title: String = clean(&run.commit).chars().take(60).collect();
        let line = format!(
            "{:<id$}  {:<command$}  {word}  {title:<commit$}  {}  {}",
            clean(&run.id),
            clean(&run.command),
            clean(&run.actor),
            palette.dim(&clean(&run.summary)),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
