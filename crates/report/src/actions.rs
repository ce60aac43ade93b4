//! What text and Markdown say alike about a plan's actions.

use serde_json::Value;
use windlass_model::{
    Action, ChangeKind, Conflict, Counts, FieldChange, Forecast, Operation, Plan, Reversal,
};

use crate::clean;

/// A value longer than this is cut; the plan file holds it whole.
const LONGEST_VALUE: usize = 120;

/// Returns the counts in the order of danger: `1 to prune, 2 to update, 40 unchanged`.
pub(crate) fn counts_line(counts: &Counts) -> String {
    let words = [
        (Operation::Prune, "to prune"),
        (Operation::Recreate, "to recreate (refused)"),
        (Operation::Update, "to update"),
        (Operation::Adopt, "to adopt"),
        (Operation::Create, "to create"),
        (Operation::Keep, "left alone"),
        (Operation::NoOp, "unchanged"),
    ];
    let mut parts: Vec<String> = words
        .iter()
        .filter(|(operation, _)| counts.of(*operation) > 0)
        .map(|(operation, word)| format!("{} {word}", counts.of(*operation)))
        .collect();
    if counts.problems > 0 {
        parts.push(format!("{} with problems", counts.problems));
    }
    if parts.is_empty() { "no objects".to_owned() } else { parts.join(", ") }
}

/// Returns the verdict in one line.
pub(crate) fn verdict(plan: &Plan) -> String {
    let problems = plan.counts().problems;
    if !plan.refusals.is_empty() || problems > 0 {
        let guards = plan.refusals.len();
        let mut why = Vec::new();
        if guards > 0 {
            why.push(format!(
                "{guards} guard{} refuse{}",
                plural(guards),
                if guards == 1 { "s" } else { "" }
            ));
        }
        if problems > 0 {
            why.push(format!("{problems} object{} cannot be applied", plural(problems)));
        }
        format!("REFUSED: {}", why.join(", "))
    } else if !plan.has_changes() {
        "nothing to do".to_owned()
    } else if plan.requirement.needed() {
        "approval needed".to_owned()
    } else {
        "ready to apply".to_owned()
    }
}

pub(crate) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Returns the actions worth showing, the most dangerous first.
pub(crate) fn by_danger(plan: &Plan) -> Vec<&Action> {
    let mut actions: Vec<&Action> = plan
        .actions
        .iter()
        .filter(|action| {
            action.operation != Operation::NoOp || action.problem.is_some() || !action.warnings.is_empty()
        })
        .collect();
    actions
        .sort_by_key(|action| (action.problem.is_none(), std::cmp::Reverse(action.risk), action.operation));
    actions
}

/// Returns what differs in a field, on one line.
pub(crate) fn change_line(change: &FieldChange) -> String {
    let path = clean(&change.path.to_string());
    let show = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), short_value);
    match change.kind {
        ChangeKind::Added => format!("+ {path}: {}", show(&change.after)),
        ChangeKind::Removed => format!("- {path}: {}", show(&change.before)),
        ChangeKind::Changed => format!("~ {path}: {} → {}", show(&change.before), show(&change.after)),
        ChangeKind::Reordered => {
            format!("~ {path}: other order, {} → {}", show(&change.before), show(&change.after))
        }
    }
}

fn short_value(value: &Value) -> String {
    let text = clean(&value.to_string());
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let head: String = text.chars().take(LONGEST_VALUE).collect();
    format!("{head}… ({} characters)", text.chars().count())
}

/// Returns a forecast, on one line.
pub(crate) fn forecast_line(forecast: &Forecast) -> String {
    match forecast {
        Forecast::Restart { why } => format!("restarts {}", clean(why)),
        Forecast::DataLoss { what } => format!("DESTROYS DATA: {}", clean(what)),
        Forecast::Cascade { text, volumes, .. } if *volumes > 0 => format!("DESTROYS DATA: {}", clean(text)),
        Forecast::Cascade { text, .. } | Forecast::Note { text } => clean(text),
    }
}

/// Returns what going back would take, where it is more than delivering the previous commit. Not for objects that are
/// new or adopted: a first delivery would say it of every one.
pub(crate) fn reversal_line(action: &Action) -> Option<String> {
    if !matches!(action.operation, Operation::Update | Operation::Prune) {
        return None;
    }
    match action.reversal() {
        Reversal::Yes => None,
        Reversal::WithSteps(why) => {
            Some(format!("going back takes more than the previous commit: {}", clean(&why)))
        }
        Reversal::No(why) => Some(format!("no way back: {}", clean(&why))),
    }
}

/// Returns whose field is taken over.
pub(crate) fn conflict_line(conflict: &Conflict) -> String {
    let since = conflict.since.as_ref().map(|time| format!(" since {}", clean(time))).unwrap_or_default();
    format!("takes over {} from {}{since}", clean(&conflict.field), clean(&conflict.manager))
}
