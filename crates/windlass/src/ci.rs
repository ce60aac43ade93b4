//! What CI systems read: job summaries and outputs.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use windlass_model::Plan;
use windlass_report::plan_markdown;

use crate::surroundings::Surroundings;

/// Hands a plan to the CI system that the process runs in, if any. Never fails a run.
pub(crate) fn publish_plan(plan: &Plan, surroundings: &Surroundings) {
    if let Some(file) = surroundings.variable("GITHUB_STEP_SUMMARY") {
        append(file.as_ref(), &plan_markdown(plan));
    }
    if let Some(file) = surroundings.variable("GITHUB_OUTPUT") {
        append(file.as_ref(), &outputs(plan));
    }
}

/// Names and values are all our own: digits, words and a digest, so no delimiter is needed.
fn outputs(plan: &Plan) -> String {
    format!(
        "plan_digest={}\nchanges={}\napproval_required={}\nexecutable={}\n",
        plan.change_digest(),
        plan.has_changes(),
        plan.requirement.needed() && plan.has_changes(),
        plan.is_executable(),
    )
}

/// Appends to a file that the CI system named.
pub(crate) fn append(file: &Path, text: &str) {
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(file) {
        file.write_all(text.as_bytes()).ok();
    }
}
