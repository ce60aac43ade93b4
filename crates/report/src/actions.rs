//! Counts, verdicts and forecasts in words.

use windlass_model::{Action, Counts, Forecast, Operation, Plan, Reversal, Toll, readable_bytes};

use crate::clean;

/// Returns how many objects each operation touches, in the order of danger, with words.
pub(crate) fn counts(counts: &Counts) -> Vec<(Operation, usize, &'static str)> {
    let words = [
        (Operation::Prune, "to prune"),
        (Operation::Recreate, "to recreate (refused)"),
        (Operation::Update, "to update"),
        (Operation::Adopt, "to adopt"),
        (Operation::Create, "to create"),
        (Operation::Keep, "left alone"),
        (Operation::NoOp, "unchanged"),
    ];
    let known = |(operation, word)| (operation, counts.of(operation), word);
    words.map(known).into_iter().filter(|(_, count, _)| *count > 0).collect()
}

/// Joins counts on one line: `1 to prune, 2 to update, 40 unchanged`.
pub(crate) fn joined(counts: &[(Operation, usize, &'static str)], problems: usize, ignored: usize) -> String {
    let mut parts: Vec<String> = counts.iter().map(|(_, count, word)| format!("{count} {word}")).collect();
    if problems > 0 {
        parts.push(format!("{problems} with problems"));
    }
    if ignored > 0 {
        parts.push(format!("{ignored} ignored difference{}", plural(ignored)));
    }
    if parts.is_empty() { "no objects".to_owned() } else { parts.join(", ") }
}

/// Returns the counts of a plan on one line.
pub(crate) fn counts_line(of: &Counts) -> String {
    joined(&counts(of), of.problems, of.ignored)
}

/// Returns what a whole plan restarts and takes along, on one line: `restarts 5 pods; destroys 16 GiB in 2 volumes`.
pub(crate) fn toll_line(toll: &Toll) -> Option<String> {
    let number = |count: usize, noun: &str| (count > 0).then(|| format!("{count} {noun}{}", plural(count)));
    let mut parts = Vec::new();
    let possibly = number(toll.uncounted_restarts, "object")
        .map(|objects| format!("those that the controllers of {objects} decide over"));
    let restarted: Vec<String> = number(toll.restarted_pods, "pod").into_iter().chain(possibly).collect();
    if !restarted.is_empty() {
        parts.push(format!("restarts {}", restarted.join(" and ")));
    }
    let deleted = [number(toll.deleted_pods, "pod"), number(toll.deleted_claims, "claim")];
    let deleted: Vec<String> = deleted.into_iter().flatten().collect();
    if !deleted.is_empty() {
        parts.push(format!("takes along {}", deleted.join(" and ")));
    }
    if let Some(volumes) = number(toll.destroyed_volumes, "volume") {
        parts.push(format!("destroys {} in {volumes}", readable_bytes(toll.destroyed_bytes)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
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

/// Returns a forecast, on one line.
pub(crate) fn forecast_line(forecast: &Forecast) -> String {
    match forecast {
        Forecast::Restart { why, .. } => format!("restarts {}", clean(why)),
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
