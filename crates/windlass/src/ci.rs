//! What CI systems read: job summaries and outputs.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use windlass_model::Plan;
use windlass_report::{PlanMarkdown, plan_markdown};

use crate::surroundings::Surroundings;

/// GitHub drops the whole summary of a step that is larger.
const LARGEST_SUMMARY: usize = 1024 * 1024;

/// Hands a plan to the CI system that the process runs in, if any, and says where the whole plan lies. Never fails
/// a run.
pub(crate) fn publish_plan(plan: &Plan, folder: Option<&Path>, surroundings: &Surroundings) {
    summarise(plan, false, folder, surroundings);
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

/// Adds a plan, or with `drift` a comparison, to the job's summary.
pub(crate) fn summarise(plan: &Plan, drift: bool, folder: Option<&Path>, surroundings: &Surroundings) {
    let Some(file) = surroundings.variable("GITHUB_STEP_SUMMARY").map(Path::new) else { return };
    let taken = std::fs::metadata(file).map_or(0, |file| usize::try_from(file.len()).unwrap_or(usize::MAX));
    let budget = PlanMarkdown::BUDGET.min(LARGEST_SUMMARY.saturating_sub(taken));
    let place = folder.map(|folder| folder.display().to_string());
    let options = PlanMarkdown { drift, budget, whereabouts: place.as_deref() };
    append(file, &plan_markdown(plan, options));
}

/// Appends to a file that the CI system named.
fn append(file: &Path, text: &str) {
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(file) {
        file.write_all(text.as_bytes()).ok();
    }
}
