//! What going back to the previous commit would undo.

use std::collections::BTreeMap;

use windlass_model::{Action, Plan, Reversal};

use super::danger::{Danger, Finding};
use super::line::{Line, Tone};
use crate::actions::plural;

/// How many objects are named before they are only counted.
const NAMED: usize = 5;

/// Says that delivering the previous commit undoes everything, if it does.
pub(super) fn whole(plan: &Plan) -> Option<Line> {
    let mut writes = writing(plan).peekable();
    writes.peek()?;
    let text = "going back: delivering the previous commit again puts every object back as it was";
    writes.all(|action| action.reversal() == Reversal::Yes).then(|| Line::new(Tone::Plain, text))
}

/// Groups by reason what the previous commit does not undo alone; what nothing undoes comes first.
pub(super) fn dangers(plan: &Plan) -> [Danger; 2] {
    let (mut lost, mut steps) = (BTreeMap::new(), BTreeMap::new());
    for action in writing(plan) {
        let (reasons, why) = match action.reversal() {
            Reversal::Yes => continue,
            Reversal::WithSteps(why) => (&mut steps, why),
            Reversal::No(why) => (&mut lost, why),
        };
        reasons.entry(why).or_insert_with(Vec::new).push(action);
    }
    [
        group("No way back", Tone::Danger, lost),
        group("Going back takes more than the previous commit", Tone::Warning, steps),
    ]
}

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
