//! What the server demands of `metadata`, whatever the schema says.

use serde_json::Value;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};

/// The fields of ObjectMeta.
const FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Names the fields that ObjectMeta does not have.
pub(crate) fn unknown(metadata: &Value, path: &FieldPath, findings: &mut Findings) {
    for name in metadata.as_object().into_iter().flatten().map(|(name, _)| name) {
        if !FIELDS.contains(&name.as_str()) {
            findings.flaw(&path.key(name), FlawKind::Unknown, "is not a field of metadata");
        }
    }
}

/// Checks the shape of `metadata` where people write into it.
pub(crate) fn shape(metadata: &Value, path: &FieldPath, findings: &mut Findings) {
    let Some(fields) = metadata.as_object() else {
        if !metadata.is_null() {
            findings.flaw(path, FlawKind::Shape, "must be an object");
        }
        return;
    };
    for name in ["labels", "annotations"] {
        for (key, value) in fields.get(name).and_then(Value::as_object).into_iter().flatten() {
            if !value.is_string() && !value.is_null() {
                findings.flaw(&path.key(name).key(key), FlawKind::Shape, "must be a text: put it in quotes");
            }
        }
    }
}

/// Checks what every embedded object needs.
pub(crate) fn embedded(object: &Value, path: &FieldPath, findings: &mut Findings) {
    for name in ["apiVersion", "kind"] {
        if object[name].as_str().is_none_or(str::is_empty) {
            findings.flaw(&path.key(name), FlawKind::Missing, "is required");
        }
    }
    shape(&object["metadata"], &path.key("metadata"), findings);
}
