//! Constraints.

use windlass_model::Object;

use super::{errors_of, judge_by_pod};
use crate::fields::{list, text};
use crate::{Class, Finding};

/// Judges a constraint. Entries of other pods than the live webhook pods do not count, nor do errors at the
/// enforcement point `vap.k8s.io`: every Rego template has one there, always.
pub(super) fn judge(title: &str, constraint: Option<&Object>, pods: &[String]) -> Vec<Finding> {
    let Some(constraint) = constraint else {
        return vec![Finding::new(title, Class::Missing, "the constraint does not exist")];
    };
    if constraint.is_terminating() {
        return vec![Finding::new(title, Class::Broken, "the constraint is being deleted")];
    }
    let mut findings: Vec<Finding> =
        weakness(constraint).map(|message| Finding::new(title, Class::Weaker, message)).into_iter().collect();
    let (behind, current) = judge_by_pod(title, "the constraint", constraint, "constraintUID", pods);
    findings.extend(behind);
    for entry in current {
        findings.extend(errors_of(title, "the constraint", entry));
        if entry["enforced"] != true {
            let message = format!("the webhook pod {} does not enforce the constraint", text(entry, "/id"));
            findings.push(Finding::new(title, Class::NotEnforced, message));
        }
    }
    findings
}

/// Says why the constraint does not deny at admission, if it does not.
fn weakness(constraint: &Object) -> Option<String> {
    let body = constraint.body();
    match text(body, "/spec/enforcementAction") {
        "" | "deny" => None,
        "scoped" if list(body, "/spec/scopedEnforcementActions").iter().any(denies_at_admission) => None,
        "scoped" => Some("its scoped actions do not deny at the webhook".to_owned()),
        action => Some(format!("its enforcementAction is {action}, not deny")),
    }
}

fn denies_at_admission(action: &serde_json::Value) -> bool {
    action["action"] == "deny"
        && list(action, "/enforcementPoints")
            .iter()
            .any(|point| matches!(text(point, "/name"), "*" | "validation.gatekeeper.sh"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn check(spec: Value, by_pod: Value, want: &[Class]) {
        let body = json!({"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": "DenyRoot",
            "metadata": {"name": "no-root", "uid": "c", "generation": 3}, "spec": spec, "status": {"byPod": by_pod}});
        let constraint = Object::new(body, None).unwrap();
        let pods = ["w-1".to_owned(), "w-2".to_owned()];
        let got: Vec<Class> = judge("x", Some(&constraint), &pods).iter().map(|f| f.class).collect();
        assert_eq!(got, want);
    }

    fn entry(id: &str) -> Value {
        json!({"id": id, "observedGeneration": 3, "constraintUID": "c", "enforced": true, "operations": ["webhook"]})
    }

    fn with(id: &str, field: &str, value: Value) -> Value {
        let mut entry = entry(id);
        entry[field] = value;
        entry
    }

    #[test]
    fn every_live_pod_must_enforce() {
        let deny = || json!({"enforcementAction": "deny"});
        check(deny(), json!([entry("w-1"), entry("w-2")]), &[]);
        check(json!({}), json!([entry("w-1"), entry("w-2")]), &[]);
        check(deny(), Value::Null, &[Class::Pending, Class::Pending]);
        check(deny(), json!([entry("w-1"), entry("dead")]), &[Class::Pending]);
        check(deny(), json!([entry("w-1"), with("w-2", "observedGeneration", json!(2))]), &[Class::Pending]);
        check(deny(), json!([entry("w-1"), with("w-2", "constraintUID", json!("old"))]), &[Class::Pending]);
        check(deny(), json!([entry("w-1"), with("w-2", "enforced", json!(false))]), &[Class::NotEnforced]);
        let errors = json!([{"code": "x", "message": "y"}]);
        check(deny(), json!([entry("w-1"), with("w-2", "errors", errors.clone())]), &[Class::Broken]);
        let flapping = with("audit", "errors", errors);
        check(deny(), json!([entry("w-1"), entry("w-2"), flapping]), &[]);
    }

    #[test]
    fn the_missing_vap_engine_is_benign() {
        let points = json!([{"enforcementPoint": "vap.k8s.io", "state": "error", "message": "K8sNativeValidation engine is missing"}]);
        check(json!({}), json!([entry("w-1"), with("w-2", "enforcementPointsStatus", points)]), &[]);
    }

    #[test]
    fn actions() {
        let all = || json!([entry("w-1"), entry("w-2")]);
        check(json!({"enforcementAction": "warn"}), all(), &[Class::Weaker]);
        check(json!({"enforcementAction": "dryrun"}), all(), &[Class::Weaker]);
        let scoped = |action: &str, point: &str| json!({"enforcementAction": "scoped", "scopedEnforcementActions": [{"action": action, "enforcementPoints": [{"name": point}]}]});
        check(scoped("deny", "validation.gatekeeper.sh"), all(), &[]);
        check(scoped("deny", "*"), all(), &[]);
        check(scoped("deny", "audit.gatekeeper.sh"), all(), &[Class::Weaker]);
        check(scoped("warn", "*"), all(), &[Class::Weaker]);
    }

    #[test]
    fn no_constraint() {
        assert_eq!(judge("x", None, &[])[0].class, Class::Missing);
    }
}
