//! What a write changes in an object.

use serde_json::Value;

use crate::{FieldChange, Object, PART_OF, delta};

/// Compares an object with what the server answers to a write, leaving the membership label out: it is ours and says
/// nothing about the object. Values of Secrets are masked.
pub fn changes(live: &Object, answer: &Object) -> Vec<FieldChange> {
    if live.holds_the_same(answer) {
        return Vec::new();
    }
    delta(&live.reference().kind, &unlabelled(live), &unlabelled(answer))
}

fn unlabelled(object: &Object) -> Value {
    let mut body = object.body().clone();
    if let Some(labels) = body.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(PART_OF);
    }
    body
}
