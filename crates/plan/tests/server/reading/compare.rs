//! Which blind spot explains a difference between two verdicts.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::{Action, ChangeKind, Conflict, FieldChange, Operation, Preview, Problem};

/// Returns the blind spot that explains the difference, none if there is none, and the difference if nothing explains it.
pub(super) fn difference(asked: &Action, read: &Action) -> Result<Option<&'static str>, String> {
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
            (Operation::NoOp, Operation::Update) if !read.delta.is_empty() => Ok(Some("spelling")),
            (Operation::Update, Operation::NoOp)
                if !asked.delta.is_empty()
                    && asked.delta.iter().all(|change| change.kind == ChangeKind::Removed) =>
            {
                Ok(Some("whole-values"))
            }
            (asked, read) => Err(format!("{asked:?} when asked, {read:?} when read")),
        };
    }
    if conflicts(asked) != conflicts(read) {
        return Err(format!("conflicts {:?} when asked, {:?} when read", conflicts(asked), conflicts(read)));
    }
    deltas(&asked.delta, &read.delta)
}

/// What the server refuses is shown as a change, unless something was only taken out of a value that is owned as a whole.
fn seen_at_all(asked: &Action, read: &Action, spot: &'static str) -> Result<Option<&'static str>, String> {
    if read.operation != Operation::NoOp {
        return Ok(Some(spot));
    }
    let starts_with_digit = |value: &Option<Value>| {
        value
            .as_ref()
            .and_then(Value::as_str)
            .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
    };
    let respelt =
        |change: &FieldChange| starts_with_digit(&change.before) && starts_with_digit(&change.after);
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

fn deltas(asked: &[FieldChange], read: &[FieldChange]) -> Result<Option<&'static str>, String> {
    let mut spot = None;
    for change in read {
        let same = asked.iter().find(|other| other.path == change.path);
        spot = spot.or(match same {
            Some(same) if same.after == change.after && same.kind == change.kind => None,
            // It falls back to a default, or what is added comes with some.
            Some(_) => Some("defaults"),
            None if change.kind == ChangeKind::Removed || is_near(change, asked) => Some("defaults"),
            None => Some("spelling"),
        });
    }
    for change in asked {
        if !read.iter().any(|other| other.path == change.path) {
            let filled_in = change.kind == ChangeKind::Added || is_counted(change) || is_near(change, read);
            spot = Some(filled_in.then_some("defaults").ok_or_else(|| format!("not seen: {change:?}"))?);
        }
    }
    Ok(spot)
}

/// Says whether the server itself counts in a field.
fn is_counted(change: &FieldChange) -> bool {
    change.path.to_string() == "metadata.annotations[\"deprecated.daemonset.template.generation\"]"
}

/// Says whether another change is above or below one.
fn is_near(change: &FieldChange, others: &[FieldChange]) -> bool {
    others.iter().any(|other| other.path.contains(&change.path) || change.path.contains(&other.path))
}
