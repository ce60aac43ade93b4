//! Windlass: `plan` of a directory, `run` of a repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::case::Case;
use crate::set::Folder;
use crate::step::{Place, Step};

/// The exit code of `--detailed-exitcode` when anything would change.
const CHANGES: i32 = 2;

pub(super) fn steps(place: &Place) -> io::Result<Vec<Step>> {
    let settings = write_settings(place)?;
    let run = |reports: &Path| -> Command {
        let mut command = call(place, "run");
        command
            .arg("--env")
            .arg(&settings)
            .arg("--dir")
            .arg(place.set.repository())
            .arg("--out")
            .arg(reports);
        command
    };
    let plan = |set: &Folder| -> Command {
        let mut command = call(place, "plan");
        command.arg(set.objects()).arg("--kubeconfig").arg(place.kubeconfig());
        command.args(["--context", "testbed", "--detailed-exitcode"]);
        command
    };
    let first = place.scratch.join("first");
    let again = place.scratch.join("again");
    Ok(vec![
        place.prepare(&["apply", "--server-side", "--filename"], &place.rights),
        Step { journal: Some(first.clone()), ..Step::of(Case::First, "windlass run", run(&first)) },
        Step { forget: Some(cache(place)), ..Step::of(Case::Plan, "windlass plan", plan(&place.set)) },
        Step::of(Case::Remembered, "windlass plan", plan(&place.set)),
        Step::of(Case::Changed, "windlass plan", plan(&place.changed)).exits_with(CHANGES),
        Step { forget: Some(cache(place)), ..Step::of(Case::Again, "windlass run", run(&again)) },
        Step::of(Case::AgainRemembered, "windlass run", run(&again)),
    ])
}

fn call(place: &Place, command: &str) -> Command {
    let mut call = place.call([command]);
    call.env("WINDLASS_CACHE", cache(place));
    call
}

fn cache(place: &Place) -> PathBuf {
    place.scratch.join("cache")
}

fn write_settings(place: &Place) -> io::Result<PathBuf> {
    let settings = json!({
        "environment": "bench",
        "cluster": {"kubeconfig": place.kubeconfig(), "context": "testbed"},
        "source": {"repository": "file:///none", "branch": "main", "unsigned": "allowed"},
        "policies": {"none": "a benchmark"},
        "approval": {"required": "never"},
    });
    let file = place.scratch.join("environment.yaml");
    fs::write(&file, settings.to_string())?;
    Ok(file)
}
