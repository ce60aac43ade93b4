//! Jobs.

use windlass_model::Object;

use super::Observed;
use super::refused::refusal;
use crate::fields::{condition, condition_is, number, wording};
use crate::{Cause, Grace, Verdict, pods};

/// A Job is ready when it has completed. How often its pods may fail is its own decision, so that a crash
/// is no cause to stop waiting.
pub(super) fn judge(object: &Object, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    if is_complete(object) {
        return Verdict::ready();
    }
    for name in ["Failed", "FailureTarget"] {
        if let Some(failed) = condition(object, name).filter(|c| c["status"] == "True") {
            return Verdict::failed(format!("failed: {}", wording(failed)));
        }
    }
    let body = object.body();
    if body["spec"]["suspend"] == true {
        return Verdict::noted("is suspended: it has not run");
    }
    let want = body.pointer("/spec/completions").and_then(serde_json::Value::as_i64).unwrap_or(1);
    let done = number(body, "/status/succeeded");
    let mut ailments = pods::ailments(&observed.pods, grace);
    ailments.retain(|ailment| ailment.cause != Cause::CrashLoop);
    ailments.extend(refusal(observed).filter(|_| number(body, "/status/active") == 0));
    Verdict::ailing_or_waiting(ailments, format!("{done} of {want} completions"))
}

pub(super) fn is_complete(object: &Object) -> bool {
    condition_is(object, "Complete", "True")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{check, object, pod, target, waiting};
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn with(spec: Value, status: Value, pods: &[Object], want: &str) {
        let live = object("batch/v1", "Job", json!({"spec": spec, "status": status}));
        let observed = Observed { object: Some(&live), pods: pods.iter().collect(), ..Observed::default() };
        check(&target(&live), &observed, want);
    }

    #[test]
    fn ends() {
        let condition = |name: &str| json!({"conditions": [{"type": name, "status": "True", "reason": "Why", "message": "words"}]});
        with(json!({}), condition("Complete"), &[], "ready");
        with(json!({}), condition("Failed"), &[], "failed: failed: Why: words");
        with(json!({}), condition("FailureTarget"), &[], "failed: failed: Why: words");
        with(json!({}), condition("SuccessCriteriaMet"), &[], "waiting: 0 of 1 completions");
        with(json!({"completions": 3}), json!({"succeeded": 2}), &[], "waiting: 2 of 3 completions");
        with(json!({"suspend": true}), condition("Suspended"), &[], "ready: is suspended: it has not run");
    }

    #[test]
    fn crashes_are_the_jobs_own_affair() {
        let crashing = pod("x-a", "", false, waiting("CrashLoopBackOff", 9));
        with(json!({}), json!({"active": 1}), &[crashing], "waiting: 0 of 1 completions");
        let pulling = pod("x-a", "", false, waiting("ErrImagePull", 0));
        with(
            json!({}),
            json!({"active": 1}),
            &[pulling],
            "Image: pod x-a, container main: ErrImagePull: words",
        );
    }
}
