//! The results as Markdown, a section a size.

mod costs;
mod ratios;
mod targets;

use crate::results::{Row, Rows};

/// Returns everything that is known.
pub(crate) fn markdown(rows: &[Row]) -> String {
    Rows::by_size(rows).into_iter().map(section).collect()
}

fn section(rows: Rows<'_>) -> String {
    format!(
        "### {} objects\n\n{}\n{}\n{}",
        rows.objects,
        costs::table(rows),
        ratios::table(rows),
        targets::table(rows)
    )
}
