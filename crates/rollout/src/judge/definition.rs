//! CustomResourceDefinitions.

use windlass_model::Object;

use crate::fields::{condition, condition_is, wording};
use crate::{Ailment, Cause, Verdict};

/// A definition is ready when its names are accepted, it is established, and discovery lists its kind: the
/// server serves it some time after it says so.
pub(super) fn judge(object: &Object, served: bool) -> Verdict {
    if let Some(names) = condition(object, "NamesAccepted").filter(|c| c["status"] == "False") {
        let reason = format!("its names are not accepted: {}", wording(names));
        return Verdict::Ailing { ailments: vec![Ailment { cause: Cause::Refused, reason, pod: None }] };
    }
    if !condition_is(object, "NamesAccepted", "True") || !condition_is(object, "Established", "True") {
        return Verdict::waiting("it is not established yet");
    }
    if served { Verdict::ready() } else { Verdict::waiting("its kind is not served yet") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Observed;
    use super::super::testing::{check, object, target};

    #[test]
    fn established_accepted_and_served() {
        let with = |accepted: &str, established: &str, served: bool, want: &str| {
            let conditions = json!([{"type": "NamesAccepted", "status": accepted, "reason": "Taken"}, {"type": "Established", "status": established}]);
            let live = object(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                json!({"status": {"conditions": conditions}}),
            );
            check(&target(&live), &Observed { object: Some(&live), served, ..Observed::default() }, want);
        };
        with("True", "True", true, "ready");
        with("True", "True", false, "waiting: its kind is not served yet");
        with("True", "False", true, "waiting: it is not established yet");
        with("Unknown", "True", true, "waiting: it is not established yet");
        with("False", "True", true, "Refused: its names are not accepted: Taken");
    }
}
