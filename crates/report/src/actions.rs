//! Counts, verdicts and forecasts in words.

use windlass_model::{Action, Counts, Forecast, Operation, Plan, Toll, Verdict, readable_bytes};

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

/// Returns what a whole plan restarts, stops and destroys, on one line: `restarts 5 pods; destroys 16 GiB in 2 volumes`.
/// Plans that delete or restart and destroy nothing say so: silence would be no answer.
pub(crate) fn toll_line(toll: &Toll, deletes: Deletes) -> Option<String> {
    let number = |count: usize, noun: &str| (count > 0).then(|| format!("{count} {noun}{}", plural(count)));
    let mut parts = Vec::new();
    let possibly = number(toll.uncounted_restarts, "object")
        .map(|objects| format!("those that the controllers of {objects} decide over"));
    let restarted: Vec<String> = number(toll.restarted_pods, "pod").into_iter().chain(possibly).collect();
    if !restarted.is_empty() {
        parts.push(format!("restarts {}", restarted.join(" and ")));
    }
    parts.extend(number(toll.deleted_pods, "pod").map(|pods| format!("stops {pods} for good")));
    parts.extend(number(toll.deleted_claims, "claim").map(|claims| format!("deletes {claims}")));
    if let Some(volumes) = number(toll.destroyed_volumes, "volume") {
        parts.push(format!("destroys {} in {volumes}", readable_bytes(toll.destroyed_bytes)));
    } else if (deletes == Deletes::NoData || !parts.is_empty() && deletes == Deletes::Nothing)
        && toll.uncounted_deletions == 0
    {
        parts.push("destroys no volume".to_owned());
    }
    parts.extend(
        number(toll.uncounted_deletions, "deletion")
            .map(|deletions| format!("what {deletions} would take along could not be counted")),
    );
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the deletions of a plan do to data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deletes {
    /// Nothing is deleted.
    Nothing,
    /// No forecast speaks of lost data.
    NoData,
    /// Some forecast does.
    Data,
}

impl Deletes {
    /// Sums up the actions of a plan.
    pub(crate) fn of(actions: &[Action]) -> Self {
        let loses = |action: &Action| action.forecasts.iter().any(is_loss);
        let prunes = |action: &Action| action.operation == Operation::Prune;
        if actions.iter().any(loses) {
            Self::Data
        } else if actions.iter().any(prunes) {
            Self::NoData
        } else {
            Self::Nothing
        }
    }
}

/// Says whether a forecast speaks of lost data.
pub(crate) fn is_loss(forecast: &Forecast) -> bool {
    match forecast {
        Forecast::DataLoss { .. } => true,
        Forecast::Cascade { volumes, .. } => *volumes > 0,
        Forecast::Restart { .. } | Forecast::Note { .. } => false,
    }
}

/// Returns the verdict in one line.
pub(crate) fn verdict(plan: &Plan) -> String {
    match plan.verdict() {
        Verdict::Refused => refused(plan.refusals.len(), plan.counts().problems),
        Verdict::NothingToDo => "nothing to do".to_owned(),
        Verdict::ApprovalNeeded => "approval needed".to_owned(),
        Verdict::Ready => "ready to apply".to_owned(),
    }
}

fn refused(guards: usize, problems: usize) -> String {
    let mut why = Vec::new();
    if guards > 0 {
        why.push(format!("by {guards} guard{}", plural(guards)));
    }
    if problems > 0 {
        why.push(format!("for {problems} object{} that cannot be applied", plural(problems)));
    }
    format!("REFUSED {}", why.join(" and "))
}

/// Returns a sentence with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

pub(crate) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Returns a forecast, on one line.
pub(crate) fn forecast_line(forecast: &Forecast) -> String {
    match forecast {
        Forecast::Restart { why, .. } => format!("restarts {}", clean(why)),
        Forecast::DataLoss { what: text } | Forecast::Cascade { text, .. } if is_loss(forecast) => {
            format!("DESTROYS DATA: {}", clean(text))
        }
        Forecast::DataLoss { what: text } | Forecast::Cascade { text, .. } | Forecast::Note { text } => {
            clean(text)
        }
    }
}
