//! kapp, which compares in the client.

use std::path::Path;
use std::process::Command;

use crate::case::Case;
use crate::step::{Place, Step};

pub(super) fn steps(place: &Place) -> Vec<Step> {
    let call = |arguments: &[&str], objects: &Path| -> Command {
        let mut command = place.call(["deploy", "--app", "bench", "--namespace", "default"]);
        command.args(arguments).arg("--file").arg(objects);
        command
    };
    let (apply, diff) = (["--yes", "--wait=false"], ["--diff-changes", "--diff-run"]);
    let (set, changed) = (place.set.objects(), place.changed.objects());
    vec![
        Step::of(Case::First, "kapp deploy", call(&apply, &set)),
        Step::of(Case::Plan, "kapp deploy --diff-run", call(&diff, &set)),
        Step::of(Case::Changed, "kapp deploy --diff-run", call(&diff, &changed)),
        Step::of(Case::Again, "kapp deploy", call(&apply, &set)),
    ]
}
