//! Helm, with the set as the templates of a chart. Its dry-run is no diff: it asks the server about no object.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::Case;
use crate::step::{Place, Step};

pub(super) fn steps(place: &Place) -> io::Result<Vec<Step>> {
    let set = chart(&place.scratch.join("chart"), &place.set.objects())?;
    let changed = chart(&place.scratch.join("chart-changed"), &place.changed.objects())?;
    let call = |chart: &Path, arguments: &[&str]| -> Command {
        let mut command = place.call(["upgrade", "--install", "bench", "--namespace", "default"]);
        command.arg(chart).args(arguments);
        command
    };
    let dry_run = ["--dry-run=server"];
    Ok(vec![
        Step::of(Case::First, "helm upgrade", call(&set, &[])),
        Step::of(Case::Plan, "helm upgrade --dry-run=server (no diff)", call(&set, &dry_run)),
        Step::of(Case::Changed, "helm upgrade --dry-run=server (no diff)", call(&changed, &dry_run)),
        Step::of(Case::Again, "helm upgrade", call(&set, &[])),
    ])
}

fn chart(folder: &Path, objects: &Path) -> io::Result<PathBuf> {
    let templates = folder.join("templates");
    fs::create_dir_all(&templates)?;
    fs::write(folder.join("Chart.yaml"), "apiVersion: v2\nname: bench\nversion: 0.1.0\n")?;
    for file in fs::read_dir(objects)? {
        let file = file?;
        fs::copy(file.path(), templates.join(file.file_name()))?;
    }
    Ok(folder.to_path_buf())
}
