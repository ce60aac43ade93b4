//! The difference between what was approved and what would happen now.

use std::fmt::Write as _;

use windlass_model::{Action, Plan};

use crate::view::Change;
use crate::{Palette, clean, without_commands};

/// How many changed fields of an object are shown.
const FIELDS: usize = 5;

/// Returns which actions of a plan no approval covers.
pub fn stale_text(plan: &Plan, uncovered: &[&Action], palette: Palette) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} of the plan's actions were not approved:", uncovered.len());
    for action in uncovered {
        let word = palette.warn(action.operation.word());
        let _ = writeln!(out, "  {word} {}", clean(&action.object.to_string()));
        for change in action.delta.iter().take(FIELDS) {
            let _ = writeln!(out, "      {}", Change::of(change).head.signed());
        }
    }
    let _ = writeln!(out, "the change digest is now {}", plan.change_digest());
    without_commands(&out)
}
