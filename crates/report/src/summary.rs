//! A plan on one line.

use windlass_model::Plan;

use crate::actions::{counts_line, verdict};

/// Returns how much differs, on one line.
pub fn drift_line(plan: &Plan) -> String {
    format!("{}: {}", if plan.has_drift() { "DRIFT" } else { "no drift" }, counts_line(&plan.counts()))
}

/// Returns verdict and counts on one line.
pub fn plan_line(plan: &Plan) -> String {
    format!("{}: {}", verdict(plan), counts_line(&plan.counts()))
}
