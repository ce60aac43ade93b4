//! Whether applying an object would change anything.

use serde_json::Value;
use windlass_model::{FieldChange, Object, PART_OF};

use crate::ownership;

/// Compares the live object with the answer, leaving the membership label out: it is ours and says nothing
/// about the object.
pub(crate) fn delta(live: &Object, answer: &Object) -> Vec<FieldChange> {
    windlass_model::delta(&live.reference().kind, &unlabelled(live), &unlabelled(answer))
}

/// Says whether the field manager `windlass` would own other fields than it does.
pub(crate) fn ownership_changes(live: &Object, answer: &Object) -> bool {
    ownership::applied(live) != ownership::applied(answer)
}

fn unlabelled(object: &Object) -> Value {
    let mut body = object.body().clone();
    if let Some(labels) = body.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(PART_OF);
    }
    body
}
