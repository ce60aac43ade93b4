//! The targets, and which of them are met.

use std::fmt::Write as _;

use crate::results::Rows;
use crate::target::{Verdict, judge};

/// Returns nothing for a size that has no targets.
pub(super) fn table(rows: Rows<'_>) -> String {
    let verdicts = judge(rows);
    if verdicts.is_empty() {
        return String::new();
    }
    let mut out =
        String::from("| target of Windlass | at most | that is | measured | met |\n|---|---|--:|--:|---|\n");
    for Verdict { step, what, limit, values, met } in verdicts {
        let (value, measured) = values.unwrap_or_else(|| ("–".to_owned(), "–".to_owned()));
        let met = match met {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "not measured",
        };
        let _ = writeln!(out, "| {step}: {what} | {limit} | {value} | {measured} | {met} |");
    }
    out.push('\n');
    out
}
