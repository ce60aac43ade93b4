//! What a run leaves on the agent's disk, for people and for audit. Never read back by a later stage.

use std::path::Path;

use windlass_model::Plan;
use windlass_report::{
    Diff, Palette, PlanMarkdown, PlanText, json_text, plan_html, plan_markdown, plan_text,
};

use crate::error::CommandError;

/// Writes a plan as `NAME.json`, `NAME.html`, `NAME.md` and `NAME.txt`.
pub(crate) fn write_plan(folder: &Path, name: &str, plan: &Plan) -> Result<(), CommandError> {
    let drift = name == "drift";
    let everything = PlanText {
        drift,
        palette: Palette::plain(),
        diff: Diff::Fields,
        fields: usize::MAX,
        objects: usize::MAX,
    };
    let place = folder.join(format!("{name}.html")).display().to_string();
    let summary = PlanMarkdown { drift, budget: PlanMarkdown::BUDGET, whereabouts: Some(&place) };
    write(folder, &format!("{name}.json"), &json_text(&plan.to_json()))?;
    write(folder, &format!("{name}.html"), &plan_html(plan, drift))?;
    write(folder, &format!("{name}.md"), &plan_markdown(plan, summary))?;
    write(folder, &format!("{name}.txt"), &plan_text(plan, everything))
}

/// Writes one file, whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), CommandError> {
    let target = folder.join(name);
    let draft = folder.join(format!(".{name}.part"));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&draft, text))
        .and_then(|()| std::fs::rename(&draft, &target))
        .map_err(|error| CommandError::file(&target, &error))
}
