//! APIServices.

use windlass_model::Object;

use crate::Verdict;
use crate::fields::{condition, wording};

pub(super) fn judge(object: &Object) -> Verdict {
    match condition(object, "Available") {
        Some(available) if available["status"] == "True" => Verdict::ready(),
        Some(available) => Verdict::waiting(format!("it is not available: {}", wording(available))),
        None => Verdict::waiting("it is not available yet"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Observed;
    use super::super::testing::{check, object, target};

    #[test]
    fn available() {
        let with = |conditions: Value, want: &str| {
            let live = object(
                "apiregistration.k8s.io/v1",
                "APIService",
                json!({"status": {"conditions": conditions}}),
            );
            check(&target(&live), &Observed { object: Some(&live), ..Observed::default() }, want);
        };
        with(json!([{"type": "Available", "status": "True"}]), "ready");
        let missing = json!([{"type": "Available", "status": "False", "reason": "ServiceNotFound"}]);
        with(missing, "waiting: it is not available: ServiceNotFound");
        with(json!([]), "waiting: it is not available yet");
    }
}
