//! Which blind spot explains a difference between two verdicts.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::{
    Action, ChangeKind, Conflict, FieldChange, FieldPath, Operation, Preview, Problem, Segment,
};

use super::words::{declares, holds, is_respelt};

/// Returns the blind spot that explains the difference, none if there is none, and the difference if nothing explains it.
/// `body` is what the commit declares, nothing for an object that it does not declare.
pub(super) fn difference(
    asked: &Action,
    read: &Action,
    body: &Value,
) -> Result<Option<&'static str>, String> {
    if !matches!(read.preview, Preview::Locally(_) | Preview::Not(_)) {
        return Err(format!("it is not marked as judged locally: {:?}", read.preview));
    }
    match &asked.problem {
        same if *same == read.problem => {}
        Some(Problem::Denied { .. }) => return seen_at_all(asked, read, "admission"),
        Some(Problem::Conflicts { .. }) | None => {}
        Some(_) => return seen_at_all(asked, read, "validation"),
    }
    if read.operation != asked.operation {
        return match (asked.operation, read.operation) {
            (Operation::NoOp, Operation::Update) if !read.delta.is_empty() => deltas(&[], &read.delta, body),
            (Operation::Update, Operation::NoOp)
                if !asked.delta.is_empty()
                    && asked
                        .delta
                        .iter()
                        .all(|change| change.kind == ChangeKind::Removed && is_in_a_whole(&change.path)) =>
            {
                Ok(Some("whole-values"))
            }
            (asked, read) => Err(format!("{asked:?} when asked, {read:?} when read")),
        };
    }
    if conflicts(asked) != conflicts(read) {
        return Err(format!("conflicts {:?} when asked, {:?} when read", conflicts(asked), conflicts(read)));
    }
    deltas(&asked.delta, &read.delta, body)
}

/// What the server refuses is shown as a change, unless something was only taken out of a value that is owned as a whole.
fn seen_at_all(asked: &Action, read: &Action, spot: &'static str) -> Result<Option<&'static str>, String> {
    if read.operation != Operation::NoOp {
        return Ok(Some(spot));
    }
    let respelt = |change: &FieldChange| is_respelt(change.before.as_ref(), change.after.as_ref());
    let taken_out = asked.delta.iter().all(|change| change.kind == ChangeKind::Removed || respelt(change));
    taken_out
        .then_some(Some("whole-values"))
        .ok_or_else(|| format!("refused when asked ({spot}), nothing when read"))
}

fn conflicts(action: &Action) -> BTreeSet<(String, String)> {
    let stopped = match &action.problem {
        Some(Problem::Conflicts { fields }) => fields.as_slice(),
        _ => &[],
    };
    let told = |conflict: &Conflict| (conflict.field.clone(), conflict.manager.clone());
    action.takes_over.iter().chain(stopped).map(told).collect()
}

/// Compares two deltas of one object; `body` is what the commit declares of it.
fn deltas(asked: &[FieldChange], read: &[FieldChange], body: &Value) -> Result<Option<&'static str>, String> {
    let mut spot = None;
    for change in read {
        let found = match asked.iter().find(|other| other.path == change.path) {
            Some(same) if same.after == change.after && same.kind == change.kind => None,
            // It falls back to a default, or what is added comes with some.
            Some(same) if change.kind == ChangeKind::Removed || is_completed(change, same) => {
                Some("defaults")
            }
            Some(same) if is_respelt(change.after.as_ref(), same.after.as_ref()) => Some("spelling"),
            None if change.kind == ChangeKind::Removed || is_near(change, asked) => Some("defaults"),
            None if is_respelt(change.before.as_ref(), change.after.as_ref()) => Some("spelling"),
            same => return Err(format!("invented: {change:?}, when asked {same:?}")),
        };
        spot = spot.or(found);
    }
    for change in asked {
        if !read.iter().any(|other| other.path == change.path) {
            let filled_in = change.kind == ChangeKind::Added && !declares(body, change.path.segments());
            let taken_out = change.kind == ChangeKind::Removed && is_in_a_whole(&change.path);
            spot = match filled_in || is_counted(change) || is_near(change, read) {
                true => Some("defaults"),
                false if taken_out => Some("whole-values"),
                false => return Err(format!("not seen: {change:?}")),
            };
        }
    }
    Ok(spot)
}

/// Says whether what the server adds is what was read, with more fields in it.
fn is_completed(read: &FieldChange, asked: &FieldChange) -> bool {
    let (Some(part), Some(whole)) = (&read.after, &asked.after) else { return false };
    read.kind == asked.kind && holds(whole, part)
}

/// Says whether the server itself counts in a field.
fn is_counted(change: &FieldChange) -> bool {
    change.path.to_string() == "metadata.annotations[\"deprecated.daemonset.template.generation\"]"
}

/// Fields of the catalogue that are owned as a whole.
const WHOLE: [&str; 9] = [
    "fieldRef",
    "ingress",
    "metrics",
    "nodeSelector",
    "rules",
    "selector",
    "tolerations",
    "versions",
    "volumeClaimTemplates",
];

fn is_in_a_whole(path: &FieldPath) -> bool {
    path.segments().iter().any(|step| matches!(step, Segment::Key(key) if WHOLE.contains(&key.as_str())))
}

/// Says whether another change is above or below one.
fn is_near(change: &FieldChange, others: &[FieldChange]) -> bool {
    others.iter().any(|other| other.path.contains(&change.path) || change.path.contains(&other.path))
}
