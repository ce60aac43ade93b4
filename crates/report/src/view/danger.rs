//! What a reader must not miss, gathered from all over a plan.

use std::collections::BTreeMap;

use windlass_model::{Forecast, ObjectRef, Operation, Plan, RestartStep, Risk};

use super::line::{Line, Tone};
use super::object::ObjectView;
use super::undo;
use crate::actions::is_loss;

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

const SORTS: [Sort; 5] = [
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
    ("Operators and API definitions", Tone::Warning, false, |object| at(object, Risk::Definition)),
    ("Rights, webhooks, policies, network, storage and scheduling rules", Tone::Warning, false, |object| {
        at(object, Risk::Access)
    }),
];

fn at(object: &ObjectView<'_>, risk: Risk) -> Option<String> {
    let action = object.action;
    (action.risk == risk && action.operation.writes() && action.problem.is_none())
        .then(|| format!("{} ({})", object.full_name(), object.word()))
}

fn lost(forecast: &Forecast) -> Option<&str> {
    match forecast {
        Forecast::DataLoss { what: text } | Forecast::Cascade { text, .. } if is_loss(forecast) => Some(text),
        _ => None,
    }
}
