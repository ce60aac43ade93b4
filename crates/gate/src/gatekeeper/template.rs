//! ConstraintTemplates.

use windlass_model::Object;

use super::{errors_of, judge_by_pod};
use crate::fields::list;
use crate::{Class, Finding};

/// Judges the template of a constraint's kind.
///
/// `status.created` is not enough: it is true before the webhook pods know the template, and stays true
/// for a template whose CEL cannot be compiled. An error in any pod's entry counts.
pub(super) fn judge(title: &str, kind: &str, template: Option<&Object>, pods: &[String]) -> Vec<Finding> {
    let Some(template) = template else {
        return vec![Finding::new(
            title,
            Class::Missing,
            format!("no ConstraintTemplate defines the kind {kind}"),
        )];
    };
    let what = format!("the template {}", template.reference().name);
    if template.is_terminating() {
        return vec![Finding::new(title, Class::Broken, format!("{what} is being deleted"))];
    }
    let errors =
        list(template.body(), "/status/byPod").iter().flat_map(|entry| errors_of(title, &what, entry));
    let mut findings: Vec<Finding> = errors.collect();
    if template.body()["status"]["created"] != true && findings.is_empty() {
        findings.push(Finding::new(title, Class::Pending, format!("{what} has not made its kind yet")));
    }
    let (behind, _) = judge_by_pod(title, &what, template, "templateUID", pods);
    findings.extend(behind);
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn check(status: Value, want: &[Class]) {
        let body = json!({"apiVersion": "templates.gatekeeper.sh/v1", "kind": "ConstraintTemplate",
            "metadata": {"name": "denyroot", "uid": "t", "generation": 2}, "status": status});
        let template = Object::new(body, None).unwrap();
        let pods = ["w-1".to_owned(), "w-2".to_owned()];
        let got: Vec<Class> =
            judge("x", "DenyRoot", Some(&template), &pods).iter().map(|f| f.class).collect();
        assert_eq!(got, want);
    }

    fn entry(id: &str, generation: i64) -> Value {
        json!({"id": id, "observedGeneration": generation, "templateUID": "t", "operations": ["webhook"]})
    }

    #[test]
    fn created_is_not_enough() {
        check(json!({"created": true, "byPod": [entry("w-1", 2), entry("w-2", 2), entry("dead", 1)]}), &[]);
        check(json!({"created": true, "byPod": [entry("audit", 2)]}), &[Class::Pending, Class::Pending]);
        check(json!({"created": true, "byPod": [entry("w-1", 2), entry("w-2", 1)]}), &[Class::Pending]);
        check(json!({"created": false, "byPod": [entry("w-1", 2), entry("w-2", 2)]}), &[Class::Pending]);
        check(json!({}), &[Class::Pending, Class::Pending, Class::Pending]);
    }

    #[test]
    fn an_error_of_any_pod_counts() {
        let mut audit = entry("audit", 2);
        audit["errors"] = json!([{"code": "create_error", "message": "cannot compile"}]);
        check(json!({"created": true, "byPod": [entry("w-1", 2), entry("w-2", 2), audit]}), &[Class::Broken]);
    }

    #[test]
    fn no_template() {
        assert_eq!(judge("x", "DenyRoot", None, &[])[0].class, Class::Missing);
    }
}
