//! Whether applying an object would change anything.

use windlass_model::Object;

use crate::ownership;

/// Says whether the field manager `windlass` would own other fields than it does.
pub(crate) fn ownership_changes(live: &Object, answer: &Object) -> bool {
    ownership::applied(live) != ownership::applied(answer)
}
