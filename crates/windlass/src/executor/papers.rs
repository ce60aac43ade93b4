//! What a run leaves on the agent's disk, for people and for audit. Never read back by a later stage.

use std::path::Path;

use windlass_model::Plan;
use windlass_report::{Palette, PlanText, plan_markdown, plan_text};

use crate::error::CommandError;

/// Writes a plan as `NAME.json`, `NAME.md` and `NAME.txt`.
pub(crate) fn write_plan(folder: &Path, name: &str, plan: &Plan) -> Result<(), CommandError> {
    let everything = PlanText {
        drift: name == "drift",
        palette: Palette::plain(),
        fields: usize::MAX,
        objects: usize::MAX,
    };
    write(folder, &format!("{name}.json"), &format!("{:#}\n", plan.to_json()))?;
    write(folder, &format!("{name}.md"), &plan_markdown(plan))?;
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
