//! What a reader must not miss, gathered from all over a plan.

use std::collections::BTreeMap;

use windlass_model::{Conflict, Forecast, ObjectRef, Operation, Plan, RestartStep, Risk, is_same_field};

use super::change::Change;
use super::created;
use super::line::{Line, Tone};
use super::object::ObjectView;
use super::undo;
use crate::actions::is_loss;

/// How many fields of an object are named that change hands.
const FIELDS: usize = 4;

/// Dangers of one sort.
pub(crate) struct Danger {
    /// What they have in common.
    pub(crate) heading: &'static str,
    /// How bad it is.
    pub(crate) tone: Tone,
    /// Whether objects or data go.
    pub(crate) deletes: bool,
    /// Each of them.
    pub(crate) findings: Vec<Finding>,
}

/// One danger.
pub(crate) struct Finding {
    /// Which object of [`View::objects`](super::View::objects) it is about.
    pub(crate) object: Option<usize>,
    /// What it is.
    pub(crate) text: Line,
    /// What to do about it.
    pub(crate) hint: Option<Line>,
}

/// Gathers the dangers, the worst first. An object can stand under several headings, but what is deleted with its
/// data is not told a second time as a deletion.
pub(crate) fn of(plan: &Plan, objects: &[ObjectView<'_>], drift: bool) -> Vec<Danger> {
    let refused = plan.refusals.iter().map(|refusal| Finding {
        object: None,
        text: Line::new(Tone::Danger, format!("{}: {}", refusal.guard, refusal.message)),
        hint: Some(Line::new(Tone::Hint, &refusal.hint)),
    });
    let mut dangers =
        vec![Danger { heading: "Refused", tone: Tone::Danger, deletes: false, findings: refused.collect() }];
    dangers.extend(SORTS.map(|sort| of_sort(sort, objects)));
    dangers.push(restarts(plan, objects));
    if !drift {
        dangers.extend(undo::dangers(plan));
    }
    dangers.retain(|danger| !danger.findings.is_empty());
    dangers
}

type Sort = (&'static str, Tone, bool, fn(&ObjectView<'_>) -> Option<String>);

fn of_sort((heading, tone, deletes, wanted): Sort, objects: &[ObjectView<'_>]) -> Danger {
    let finding = |(position, object): (usize, &ObjectView<'_>)| {
        let text = wanted(object)?;
        Some(Finding { object: Some(position), text: Line::new(tone, text), hint: None })
    };
    Danger { heading, tone, deletes, findings: objects.iter().enumerate().filter_map(finding).collect() }
}

/// The restarts across all objects, in the order of applying; what begins at once has the same number.
fn restarts(plan: &Plan, objects: &[ObjectView<'_>]) -> Danger {
    let positions: BTreeMap<&ObjectRef, usize> =
        objects.iter().enumerate().map(|(position, object)| (&object.action.object, position)).collect();
    let finding = |step: RestartStep<'_>| {
        let text = format!("{}. {} (unit {}): {}", step.step, step.object, step.unit, step.why);
        Finding {
            object: positions.get(step.object).copied(),
            text: Line::new(Tone::Warning, text),
            hint: None,
        }
    };
    Danger {
        heading: "Restarts pods, in this order",
        tone: Tone::Warning,
        deletes: false,
        findings: plan.restarts().into_iter().map(finding).collect(),
    }
}

const SORTS: [Sort; 6] = [
    ("Cannot be applied", Tone::Danger, false, |object| {
        let problem = object.action.problem.as_ref()?;
        Some(format!("{}: {}", object.full_name(), problem.summary()))
    }),
    ("Destroys data", Tone::Danger, true, |object| {
        let what: Vec<&str> = object.action.forecasts.iter().filter_map(lost).collect();
        (!what.is_empty()).then(|| format!("{}: {}", object.full_name(), what.join("; ")))
    }),
    ("Deletes", Tone::Danger, true, |object| {
        let keeps_data = !object.action.forecasts.iter().any(|forecast| lost(forecast).is_some());
        (object.action.operation == Operation::Prune && keeps_data).then(|| object.full_name())
    }),
    ("Changes what somebody else set", Tone::Warning, false, taken_over),
    ("Operators and API definitions", Tone::Warning, false, |object| at(object, Risk::Definition)),
    ("Rights, webhooks, policies, network, storage and scheduling rules", Tone::Warning, false, |object| {
        at(object, Risk::Access)
    }),
];

fn at(object: &ObjectView<'_>, risk: Risk) -> Option<String> {
    let action = object.action;
    (action.risk == risk && action.operation.writes() && action.problem.is_none()).then(|| {
        let opened = created::opened(action).map(|what| format!(": {what}")).unwrap_or_default();
        format!("{} ({}){opened}", object.full_name(), object.word())
    })
}

/// Names the fields that others set and that change with the takeover: who set one by hand may have had a reason.
fn taken_over(object: &ObjectView<'_>) -> Option<String> {
    let action = object.action;
    if !action.operation.writes() || action.problem.is_some() {
        return None;
    }
    let undone = |conflict: &Conflict| {
        let change =
            action.delta.iter().find(|change| is_same_field(&change.path.to_string(), &conflict.field))?;
        let change = Change::of(change);
        Some(format!("{} (set by {}, {})", change.head.text(), conflict.manager, conflict.last_written()))
    };
    let mut fields: Vec<String> = action.takes_over.iter().filter_map(undone).collect();
    let more = fields.len().saturating_sub(FIELDS);
    fields.truncate(FIELDS);
    fields.extend((more > 0).then(|| format!("{more} more")));
    (!fields.is_empty()).then(|| format!("{}: {}", object.full_name(), fields.join("; ")))
}

fn lost(forecast: &Forecast) -> Option<&str> {
    match forecast {
        Forecast::DataLoss { what: text } | Forecast::Cascade { text, .. } if is_loss(forecast) => Some(text),
        _ => None,
    }
}
