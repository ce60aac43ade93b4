//! Whether applying an object would change anything.

use windlass_model::Object;

use crate::ownership;

/// Says whether the field manager `windlass` would own other fields than it does.
pub(crate) fn ownership_changes(live: &Object, answer: &Object) -> bool {
    match (ownership::applied(live), ownership::applied(answer)) {
        (Some(now), Some(then)) => !now.owns_the_same(then),
        (now, then) => now.is_some() != then.is_some(),
    }
}
