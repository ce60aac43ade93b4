//! The requests that nobody can do without, sent by a program that does nothing else.

use std::process::Command;

use crate::case::Case;
use crate::step::{Place, Step};

pub(super) fn steps(place: &Place) -> Vec<Step> {
    let call = |action: &str, in_flight: &str| -> Command {
        let mut command = place.call([action, "-in-flight", in_flight]);
        command.arg("-bed").arg(&place.bed).arg("-set").arg(place.set.raw());
        command
    };
    vec![
        Step::of(Case::First, "raw applies, 8 in flight", call("apply", "8")),
        Step::of(Case::List, "raw LISTs", call("list", "8")),
        Step::new("metadata", Some(Case::List), "raw LISTs of metadata", call("metadata", "8")),
        Step::of(Case::Plan, "raw dry-runs, 8 in flight", call("dry-run", "8")),
        Step::new("plan-4", Some(Case::Plan), "raw dry-runs, 4 in flight", call("dry-run", "4")),
    ]
}
