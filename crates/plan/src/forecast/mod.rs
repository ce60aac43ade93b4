//! What follows from an action: restarts, and what a deletion takes along.

mod cascade;
mod change;
mod configuration;
mod operators;
mod pace;
mod removal;
mod restart;
mod rolls;
mod storage;
mod toll;

pub(crate) use cascade::{claims_going, destroyed, is_uncounted};
pub(crate) use change::{of_change, scaled_away};
pub(crate) use configuration::follow;
pub(crate) use removal::{claims_in, of_removal};
pub(crate) use storage::{asks_for_classes, explain};
pub(crate) use toll::of_plan;

use serde_json::Value;
use windlass_model::{Forecast, Object};

fn note(text: impl Into<String>) -> Forecast {
    Forecast::Note { text: text.into() }
}

fn text<'a>(object: &'a Object, pointer: &str) -> Option<&'a str> {
    object.body().pointer(pointer)?.as_str()
}

pub(crate) fn count(object: &Object, pointer: &str, default: u64) -> u64 {
    object.body().pointer(pointer).and_then(Value::as_u64).unwrap_or(default)
}

/// Names the pods or claims of a StatefulSet with these indexes, in this order; long runs are shortened.
pub(crate) fn ordinals(
    set: &Object,
    prefix: &str,
    indexes: impl DoubleEndedIterator<Item = u64> + Clone,
) -> String {
    let start = count(set, START, 0);
    run(set, prefix, indexes.map(|index| start.saturating_add(index)))
}

/// Where the ordinals of a StatefulSet's pods begin.
const START: &str = "/spec/ordinals/start";

/// Names the pods or claims of a StatefulSet with these ordinals, in this order; long runs are shortened.
fn run(set: &Object, prefix: &str, ordinals: impl DoubleEndedIterator<Item = u64> + Clone) -> String {
    let name = |ordinal: u64| format!("{prefix}{}-{ordinal}", set.reference().name);
    let many = ordinals.clone().count();
    match (ordinals.clone().next(), ordinals.clone().next_back()) {
        (Some(first), Some(last)) if many > 5 => format!("{} … {} ({many})", name(first), name(last)),
        _ => ordinals.map(name).collect::<Vec<_>>().join(", "),
    }
}
