//! What everything cost.

use std::fmt::Write as _;

use crate::measure::Cost;
use crate::results::{Outcome, Rows};

pub(super) fn table(rows: Rows<'_>) -> String {
    let mut out = String::from(
        "| case | tool | wall | own CPU | server CPU | other CPU | peak memory | requests |\n\
         |---|---|--:|--:|--:|--:|--:|---|\n",
    );
    for row in rows.sorted() {
        let _ = match &row.outcome {
            Outcome::Measured(cost) => {
                writeln!(out, "| {} | {} | {} |", row.case.title(), row.label, cells(cost))
            }
            Outcome::Failed(reason) => {
                writeln!(out, "| {} | {} | failed: {reason} |", row.case.title(), row.label)
            }
            Outcome::LeftOut(reason) => {
                writeln!(out, "| {} | {} | not measured: {reason} |", row.case.title(), row.label)
            }
        };
    }
    out
}

fn cells(cost: &Cost) -> String {
    let verbs: Vec<String> = cost.requests.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
    let applying =
        cost.applying.map(|applying| format!(" (apply stage {applying:.2} s)")).unwrap_or_default();
    format!(
        "{:.2} s{applying} | {:.2} s | {:.2} s | {:.2} s | {} MiB | {}: {}",
        cost.wall,
        cost.own,
        cost.server,
        cost.others,
        cost.peak / 1024,
        cost.requests.values().sum::<usize>(),
        verbs.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::results::Row;
    use crate::tools::Tool;

    #[test]
    fn a_row_tells_everything_or_why_there_is_nothing() {
        let cost = Cost {
            wall: 1.5,
            applying: Some(1.0),
            own: 0.25,
            peak: 10 * 1024,
            requests: [("dry-run".to_owned(), 3), ("list".to_owned(), 2)].into(),
            ..Cost::default()
        };
        let row = |tool, label: &str, outcome| {
            let (step, label) = ("first".to_owned(), label.to_owned());
            Row { objects: 10, tool, step, case: Case::First, label, outcome }
        };
        let rows = [
            row(Tool::Helm, "helm upgrade", Outcome::Failed("too large".to_owned())),
            row(Tool::Windlass, "windlass run", Outcome::Measured(cost)),
        ];
        let expected = "\
| first apply | windlass run | 1.50 s (apply stage 1.00 s) | 0.25 s | 0.00 s | 0.00 s | 10 MiB | 5: 3 dry-run, 2 list |
| first apply | helm upgrade | failed: too large |
";
        let table = table(*Rows::by_size(&rows).first().unwrap());
        assert!(table.ends_with(expected), "{table}");
    }
}
