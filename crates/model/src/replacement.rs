//! The generated object whose place a new one takes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{FieldChange, Object, ObjectRef, delta};

/// What a generated ConfigMap or Secret says differently than the one whose place it takes. Its name, made from its
/// content, says only that something differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Replacement {
    /// The object that goes.
    pub object: ObjectRef,
    /// The fields that differ, without metadata; values of Secrets are masked.
    pub delta: Vec<FieldChange>,
}

impl Replacement {
    /// Compares a live object with the one that takes its place.
    pub fn between(live: &Object, successor: &Object) -> Self {
        let kind = &live.reference().kind;
        let mut delta = delta(kind, live.body(), successor.body());
        delta.retain(|change| !change.path.starts_with(&["metadata"]));
        Self { object: live.reference().clone(), delta }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(kind: &str, before: &Value, after: &Value, want: &Value) {
        let object = |name: &str, content: &Value| {
            let mut body =
                json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
            body["data"] = content.clone();
            Object::new(body, None).unwrap()
        };
        let replacement =
            Replacement::between(&object("a-5h2ct8kd4m", before), &object("a-hk7m2bdt9f", after));
        assert_eq!(json!(replacement.delta), *want);
        assert_eq!(replacement.object.name, "a-5h2ct8kd4m");
    }

    #[test]
    fn only_the_content_is_compared_and_secrets_stay_masked() {
        let (before, after) = (json!({"k": "MQ==", "same": "eA=="}), json!({"k": "Mg==", "same": "eA=="}));
        let changed = |before: &str, after: &str| json!([{"path": "data.k", "change": "changed", "before": before, "after": after}]);
        check("ConfigMap", &before, &after, &changed("MQ==", "Mg=="));
        check("Secret", &before, &after, &changed("***", "***"));
        check("ConfigMap", &before, &before, &json!([]));
    }
}
