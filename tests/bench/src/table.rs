//! The result as a table in Markdown.

use std::fmt::Write as _;

use crate::measure::Cost;

/// One line: what was done, by whom, and what it cost.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) cost: Cost,
}

pub(crate) fn markdown(objects: usize, rows: &[Row]) -> String {
    let mut out = format!(
        "| {objects} objects | tool | wall | own CPU | server CPU | peak memory | requests |\n|---|---|---|---|---|---|---|\n"
    );
    for Row { case, tool, cost } in rows {
        let requests: Vec<String> =
            cost.requests.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
        let total: usize = cost.requests.values().sum();
        let _ = writeln!(
            out,
            "| {case} | {tool} | {:.2} s | {:.2} s | {:.2} s | {} MiB | {total}: {} |",
            cost.wall.as_secs_f64(),
            cost.processor.as_secs_f64(),
            cost.server.as_secs_f64(),
            cost.peak / 1024,
            requests.join(", "),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_row_tells_everything() {
        let cost = Cost {
            wall: Duration::from_millis(1500),
            processor: Duration::from_millis(250),
            peak: 10 * 1024,
            requests: [("dry-run".to_owned(), 3), ("list".to_owned(), 2)].into(),
            ..Cost::default()
        };
        let table = markdown(10, &[Row { case: "plan", tool: "windlass", cost }]);
        let row = "| plan | windlass | 1.50 s | 0.25 s | 0.00 s | 10 MiB | 5: 3 dry-run, 2 list |\n";
        assert!(table.ends_with(row), "{table}");
    }
}
