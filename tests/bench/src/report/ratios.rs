//! Every tool beside Windlass: how many times as much it takes.

use std::fmt::Write as _;

use crate::case::Case;
use crate::measure::Cost;
use crate::results::Rows;
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

/// Tools without memory do the same work every time, so they are held against both. The floor is what Windlass itself
/// is held against, so its lines are the other way round.
pub(super) fn table(rows: Rows<'_>) -> String {
    let mut out = String::from(
        "| case | ratio | wall | with the apply stage alone | own CPU | server CPU | peak memory | requests |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (step, case) in COMPARED {
        let Some(ours) = rows.cost(Tool::Windlass, step) else { continue };
        for row in rows.sorted() {
            let Some(theirs) = row.cost() else { continue };
            let (title, label) = (case.title(), &row.label);
            let _ = match row.tool {
                Tool::Floor if row.case == case => {
                    writeln!(out, "| {title} | Windlass ÷ {label} | {} |", cells(ours, theirs))
                }
                Tool::Floor | Tool::Windlass => continue,
                _ if row.case == case.without_memory() => {
                    writeln!(out, "| {title} | {label} ÷ Windlass | {} |", cells(theirs, ours))
                }
                _ => continue,
            };
        }
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "counts and sizes are far below 2^52")]
fn cells(one: &Cost, other: &Cost) -> String {
    let requests = |cost: &Cost| cost.requests.values().sum::<usize>() as f64;
    let applying = |cost: &Cost| cost.applying.unwrap_or(cost.wall);
    let apply_stage = one.applying.or(other.applying).map(|_| ratio(applying(one), applying(other)));
    [
        ratio(one.wall, other.wall),
        apply_stage.unwrap_or_else(|| "–".to_owned()),
        ratio(one.own, other.own),
        ratio(one.server, other.server),
        ratio(one.peak as f64, other.peak as f64),
        ratio(requests(one), requests(other)),
    ]
    .join(" | ")
}

fn ratio(one: f64, other: f64) -> String {
    match one / other {
        ratio if !ratio.is_finite() => "–".to_owned(),
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Outcome, Row};

    fn row(tool: Tool, step: &str, case: Case, cost: Cost) -> Row {
        let (step, label) = (step.to_owned(), tool.name().to_owned());
        Row { objects: 10, tool, step, case, label, outcome: Outcome::Measured(cost) }
    }

    fn wall(wall: f64) -> Cost {
        Cost { wall, ..Cost::default() }
    }

    #[track_caller]
    fn check(rows: &[Row], expected: &str) {
        let table = table(*Rows::by_size(rows).first().unwrap());
        assert_eq!(table.lines().skip(2).collect::<Vec<_>>().join("\n"), expected.trim());
    }

    #[test]
    fn a_tool_without_memory_is_held_against_both_plans() {
        let rows = [
            row(Tool::Windlass, "plan", Case::Plan, wall(4.0)),
            row(Tool::Windlass, "remembered", Case::Remembered, wall(0.5)),
            row(Tool::Kubectl, "plan", Case::Plan, wall(12.0)),
        ];
        let expected = "
| plan, nothing changed | kubectl ÷ Windlass | 3.00 | – | – | – | – | – |
| plan, nothing changed, remembered | kubectl ÷ Windlass | 24 | – | – | – | – | – |";
        check(&rows, expected);
    }

    #[test]
    fn windlass_is_held_against_the_floor() {
        let rows = [
            row(Tool::Windlass, "first", Case::First, Cost { applying: Some(3.0), ..wall(8.0) }),
            row(Tool::Floor, "first", Case::First, wall(2.0)),
            row(Tool::Kubectl, "first", Case::First, wall(12.0)),
        ];
        let expected = "
| first apply | Windlass ÷ floor | 4.00 | 1.50 | – | – | – | – |
| first apply | kubectl ÷ Windlass | 1.50 | 4.00 | – | – | – | – |";
        check(&rows, expected);
    }
}
