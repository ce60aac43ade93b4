//! Failures of single objects, in words that hold nothing secret.

use windlass_cluster::{ClusterError, Failure, FailureKind};
use windlass_model::{ObjectRef, is_secret_kind};

use crate::ObjectFailure;

/// Why one object was not written.
#[derive(Debug, Clone)]
pub(crate) struct Unwritten {
    /// What is told.
    pub(crate) failure: ObjectFailure,
    /// Whether the object is not as the plan saw it, so that planning again helps.
    pub(crate) stale: bool,
    /// Whether the server, not the object, is the problem, so that other objects would fail as well.
    pub(crate) systemic: bool,
    /// Whether the server gave no answer at all: nothing is known against the object.
    pub(crate) unanswered: bool,
}

/// Why the work does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The run was told to stop.
    Stopped,
    /// An object could not be written.
    Failed(Box<Unwritten>),
}

impl From<Unwritten> for Halt {
    fn from(unwritten: Unwritten) -> Self {
        Self::Failed(Box::new(unwritten))
    }
}

impl Unwritten {
    /// Takes a failed request.
    pub(crate) fn of(object: &ObjectRef, error: &ClusterError, creating: bool) -> Self {
        let kind = error.failure().map(Failure::kind);
        let since = match &kind {
            Some(FailureKind::Modified | FailureKind::FieldConflict(_)) if creating => {
                Some("appeared since the plan was made".to_owned())
            }
            Some(FailureKind::Gone) => Some("was deleted since the plan was made".to_owned()),
            Some(FailureKind::Recreated) => {
                Some("was deleted and created again since the plan was made".to_owned())
            }
            Some(FailureKind::Modified) => Some("was changed while it was written".to_owned()),
            Some(FailureKind::FieldConflict(fields)) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| format!("{} is owned by {}", field.field, field.manager))
                    .collect();
                Some(format!("field conflict that the plan did not show: {}", fields.join("; ")))
            }
            _ => None,
        };
        let stale = since.is_some();
        let hint = if stale { "run the same command again: it plans anew".to_owned() } else { error.hint() };
        let message = since.unwrap_or_else(|| words(object, error));
        Self {
            failure: ObjectFailure { object: object.clone(), message, hint },
            stale,
            systemic: is_systemic(error),
            unanswered: is_unanswered(error),
        }
    }

    /// Takes a finding of our own that planning again resolves.
    pub(crate) fn stale(object: &ObjectRef, message: String, hint: &str) -> Self {
        Self { stale: true, ..Self::because(object, message, hint) }
    }

    /// Takes a finding of our own.
    pub(crate) fn because(object: &ObjectRef, message: String, hint: &str) -> Self {
        let failure = ObjectFailure { object: object.clone(), message, hint: hint.to_owned() };
        Self { failure, stale: false, systemic: false, unanswered: false }
    }
}

/// Returns what went wrong with a request about an object. The server's words echo what was sent, so of a
/// Secret only the names of the fields are told.
pub(crate) fn words(object: &ObjectRef, error: &ClusterError) -> String {
    let Some(failure) = error.failure() else { return error.to_string() };
    if !is_secret_kind(&object.kind) {
        return failure.to_string();
    }
    let reason = if failure.reason.is_empty() { "no reason" } else { &failure.reason };
    let mut fields: Vec<&str> =
        failure.causes.iter().map(|cause| cause.field.as_str()).filter(|field| !field.is_empty()).collect();
    fields.dedup();
    let fields = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) };
    format!(
        "refused with {reason} (HTTP {}){fields}; the server's words are left out since they may hold secret values",
        failure.code
    )
}

fn is_systemic(error: &ClusterError) -> bool {
    is_unanswered(error)
        || error.failure().is_some_and(|failure| {
            matches!(
                failure.kind(),
                FailureKind::Unauthorized | FailureKind::Unavailable | FailureKind::Throttled
            )
        })
}

pub(crate) fn is_unanswered(error: &ClusterError) -> bool {
    matches!(error, ClusterError::Unreachable { .. } | ClusterError::Timeout { .. })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::GroupKind;

    use super::*;

    fn object(kind: &str) -> ObjectRef {
        let kind = GroupKind::new("", kind);
        ObjectRef { kind, version: "v1".into(), namespace: Some("a".into()), name: "b".into() }
    }

    fn api(code: u16, message: &str, causes: &serde_json::Value) -> ClusterError {
        let status =
            json!({"kind": "Status", "reason": "Invalid", "message": message, "details": {"causes": causes}});
        let failure = Failure::parse(code, status.to_string().as_bytes(), None);
        ClusterError::Api { what: "PATCH /x".into(), failure: Box::new(failure) }
    }

    #[test]
    fn errors_about_secrets_name_fields_and_no_values() {
        let causes = json!([{"reason": "FieldValueInvalid", "field": "data[password]", "message": "Invalid value: \"hunter2\""}]);
        let error = api(422, "Secret \"b\" is invalid: data[password]: Invalid value: \"hunter2\"", &causes);
        let told = Unwritten::of(&object("Secret"), &error, false).failure;
        assert!(
            !format!("{told:?}").contains("hunter2") && told.message.contains("data[password]"),
            "{told:?}"
        );
        assert!(words(&object("ConfigMap"), &error).contains("hunter2"));
    }

    #[test]
    fn a_world_that_moved_is_stale() {
        let check = |error: &ClusterError, creating, stale, says: &str| {
            let got = Unwritten::of(&object("ConfigMap"), error, creating);
            assert_eq!(got.stale, stale, "{error}");
            assert!(got.failure.message.contains(says), "{}", got.failure.message);
        };
        let none = json!([]);
        check(&api(409, "the object has been modified", &none), true, true, "appeared");
        check(&api(409, "uid mismatch: …", &none), false, true, "was deleted since");
        let uid = json!([{"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "field is immutable"}]);
        check(&api(422, "x", &uid), false, true, "created again");
        let field = json!([{"reason": "FieldManagerConflict", "field": ".data.x", "message": "conflict with \"hpa\" using v1"}]);
        check(&api(409, "Apply failed", &field), false, true, "data.x is owned by hpa");
        check(&api(422, "x is invalid", &none), false, false, "x is invalid");
    }
}
