//! Every tool beside Windlass: how many times as much it takes.

use std::fmt::Write as _;

use crate::case::Case;
use crate::measure::Cost;
use crate::results::{Row, Rows};
use crate::tools::Tool;

/// Windlass' steps.
const COMPARED: [(&str, Case); 6] = [
    ("first", Case::First),
    ("plan", Case::Plan),
    ("remembered", Case::Remembered),
    ("changed", Case::Changed),
    ("again", Case::Again),
    ("again-remembered", Case::AgainRemembered),
];

/// Tools without memory do the same work every time, so they are held against both.
pub(super) fn table(rows: Rows<'_>) -> String {
    let mut out = String::from(
        "| case | tool ÷ Windlass | wall | wall ÷ apply stage | own CPU | server CPU | peak memory | requests |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (step, case) in COMPARED {
        let Some(ours) = rows.cost(Tool::Windlass, step) else { continue };
        let same = |row: &&Row| row.tool != Tool::Windlass && row.case == case.without_memory();
        for row in rows.sorted().into_iter().filter(same) {
            if let Some(theirs) = row.cost() {
                let _ = writeln!(out, "| {} | {} | {} |", case.title(), row.label, cells(theirs, ours));
            }
        }
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "counts and sizes are far below 2^52")]
fn cells(theirs: &Cost, ours: &Cost) -> String {
    let requests = |cost: &Cost| cost.requests.values().sum::<usize>() as f64;
    [
        ratio(theirs.wall, ours.wall),
        ours.applying.map_or_else(|| "–".to_owned(), |applying| ratio(theirs.wall, applying)),
        ratio(theirs.own, ours.own),
        ratio(theirs.server, ours.server),
        ratio(theirs.peak as f64, ours.peak as f64),
        ratio(requests(theirs), requests(ours)),
    ]
    .join(" | ")
}

fn ratio(theirs: f64, ours: f64) -> String {
    match theirs / ours {
        ratio if !ratio.is_finite() => "–".to_owned(),
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;

    #[test]
    fn a_tool_without_memory_is_held_against_both_plans() {
        let row = |tool, step: &str, case, wall| {
            let outcome = Outcome::Measured(Cost { wall, ..Cost::default() });
            Row { objects: 10, tool, step: step.to_owned(), case, label: tool_label(tool), outcome }
        };
        let rows = [
            row(Tool::Windlass, "plan", Case::Plan, 4.0),
            row(Tool::Windlass, "remembered", Case::Remembered, 0.5),
            row(Tool::Kubectl, "plan", Case::Plan, 12.0),
        ];
        let expected = "\
| plan, nothing changed | kubectl | 3.00 | – | – | – | – | – |
| plan, nothing changed, remembered | kubectl | 24 | – | – | – | – | – |
";
        let table = table(*Rows::by_size(&rows).first().unwrap());
        assert!(table.ends_with(expected), "{table}");
    }

    fn tool_label(tool: Tool) -> String {
        tool.name().to_owned()
    }
}
