//! The difference between what was approved and what would happen now.

use std::fmt::Write as _;

use windlass_model::{Action, Plan};

use crate::actions::change_line;
use crate::{Palette, clean};

/// Returns which actions of a plan no approval covers.
pub fn stale_text(plan: &Plan, uncovered: &[&Action], palette: Palette) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} of the plan's actions were not approved:", uncovered.len());
    for action in uncovered {
        let _ = writeln!(
            out,
            "  {} {}",
            palette.warn(action.operation.word()),
            clean(&action.object.to_string())
        );
        for change in action.delta.iter().take(5) {
            let _ = writeln!(out, "      {}", change_line(change));
        }
    }
    let _ = writeln!(out, "the change digest is now {}", plan.change_digest());
    out
}
