//! An error as a person reads it: what, why, and what to do.

use std::fmt::Write as _;

use crate::{Palette, clean, clean_block};

/// What stopped a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What happened, in one line.
    pub what: String,
    /// Causes and details, each on a line of its own.
    pub details: Vec<String>,
    /// A block of foreign text: log lines, a source snippet.
    pub block: Option<String>,
    /// What to do.
    pub hints: Vec<String>,
}

/// Returns a problem as text.
pub fn problem_text(report: &Report, palette: Palette) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", palette.bad("error:"), clean(&report.what));
    for detail in &report.details {
        let mut lines = detail.lines();
        let _ = writeln!(out, "  {} {}", palette.dim("-"), clean(lines.next().unwrap_or_default()));
        lines.for_each(|line| {
            let _ = writeln!(out, "    {}", clean_indented(line));
        });
    }
    if let Some(block) = &report.block {
        out.push_str(&clean_block(block, "  │ "));
    }
    if !report.hints.is_empty() {
        out.push('\n');
    }
    for hint in &report.hints {
        let _ = writeln!(out, "{} {}", palette.hint("hint:"), clean(hint));
    }
    out
}

/// Cleans a line but keeps its indentation.
fn clean_indented(line: &str) -> String {
    let text = line.trim_start();
    format!("{}{}", " ".repeat(line.len() - text.len()), clean(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_why_and_what_to_do() {
        let report = Report {
            what: "the rollout failed".into(),
            details: vec!["StatefulSet shop/db\n  pod db-2".into()],
            block: Some("::error::boom".into()),
            hints: vec!["look".into()],
        };
        let want = "error: the rollout failed\n  - StatefulSet shop/db\n      pod db-2\n  │ : :error::boom\n\nhint: look\n";
        assert_eq!(problem_text(&report, Palette::plain()), want);
    }
}
