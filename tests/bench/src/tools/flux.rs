//! The engine of Flux, driven as its kustomize-controller does, without a rate limit of its own.

use std::path::Path;
use std::process::Command;

use crate::case::Case;
use crate::step::{Place, Step};

pub(super) fn steps(place: &Place) -> Vec<Step> {
    let call = |action: &str, objects: &Path| -> Command {
        let mut command = place.call([action]);
        command.arg(place.kubeconfig()).arg(objects);
        command
    };
    let (set, changed) = (place.set.objects(), place.changed.objects());
    vec![
        Step::of(Case::First, "Flux engine, apply", call("apply", &set)),
        Step::of(Case::Plan, "Flux engine, diff", call("diff", &set)),
        Step::of(Case::Changed, "Flux engine, diff", call("diff", &changed)),
        Step::of(Case::Again, "Flux engine, apply", call("apply", &set)),
    ]
}
