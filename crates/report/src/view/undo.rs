//! What going back to the previous commit would undo.

use std::collections::BTreeMap;

use windlass_model::{Action, Plan, Reversal};

use super::danger::{Danger, Finding};
use super::line::{Line, Tone};
use crate::actions::plural;

/// How many objects are named before they are only counted.
const NAMED: usize = 12;

/// Says that delivering the previous commit undoes everything, if it does.
pub(super) fn whole(plan: &Plan) -> Option<Line> {
    let mut writes = writing(plan).peekable();
    writes.peek()?;
    let text = if plan.rollback.is_some() {
        "undoing the rollback: delivering the commit that ran before puts every object back as it was"
    } else {
        "going back: delivering the previous commit again puts every object back as it was"
    };
    writes.all(|action| action.reversal() == Reversal::Yes).then(|| Line::new(Tone::Plain, text))
}

/// Groups by reason what the previous commit does not undo alone; what nothing undoes comes first. Of a rollback, what it
/// relies on comes before that: nobody but a person knows whether it holds.
pub(super) fn dangers(plan: &Plan) -> [Danger; 3] {
    let (mut relied, mut lost, mut steps) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let goes_back = plan.rollback.is_some();
    for action in writing(plan) {
        if goes_back && action.may_change_format() {
            relied.entry(READS.to_owned()).or_insert_with(Vec::new).push(action);
            continue;
        }
        let (reasons, why) = match action.reversal() {
            Reversal::Yes => continue,
            Reversal::WithSteps(why) => (&mut steps, why),
            Reversal::No(why) => (&mut lost, why),
        };
        reasons.entry(why).or_insert_with(Vec::new).push(action);
    }
    let more = if goes_back {
        "Undoing the rollback takes more than the commit that ran before"
    } else {
        "Going back takes more than the previous commit"
    };
    [
        group("This goes back: check before you approve", Tone::Danger, relied),
        group("No way back", Tone::Danger, lost),
        group(more, Tone::Warning, steps),
    ]
}

/// What a rollback relies on.
const READS: &str = "the version that comes back must be able to read what the one that runs has written: upgrades of data formats are often one way";

fn writing(plan: &Plan) -> impl Iterator<Item = &Action> {
    plan.actions.iter().filter(|action| action.operation.writes())
}

fn group(heading: &'static str, tone: Tone, reasons: BTreeMap<String, Vec<&Action>>) -> Danger {
    let finding = |(why, actions): (String, Vec<&Action>)| Finding {
        object: None,
        text: Line::new(tone, format!("{}: {why}", named(&actions))),
        hint: None,
    };
    Danger { heading, tone, deletes: false, findings: reasons.into_iter().map(finding).collect() }
}

/// Names a few objects and counts the rest.
pub(super) fn named(actions: &[&Action]) -> String {
    let names: Vec<String> = actions.iter().take(NAMED).map(|action| action.object.to_string()).collect();
    match actions.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        rest => format!("{} and {rest} other object{}", names.join(", "), plural(rest)),
    }
}
