//! DaemonSets.

use windlass_model::Object;

use super::refused::refusal;
use super::{Observed, UNOBSERVED, is_observed};
use crate::fields::{number, text};
use crate::{Ailment, Grace, Verdict, pods};

/// As kubectl, but OnDelete is no error: the pods that were not updated are reported.
pub(super) fn judge(object: &Object, observed: &Observed<'_>, grace: &Grace) -> Verdict {
    if !is_observed(object) {
        return Verdict::waiting(UNOBSERVED);
    }
    let body = object.body();
    let status = |field: &str| number(body, &format!("/status/{field}"));
    let (want, updated, available) =
        (status("desiredNumberScheduled"), status("updatedNumberScheduled"), status("numberAvailable"));
    let on_delete = body["spec"]["updateStrategy"]["type"] == "OnDelete";
    let missing = if updated < want && !on_delete {
        format!("{updated} of {want} pods are updated")
    } else if available < want {
        format!("{available} of {want} pods are available{}", on_nodes(observed))
    } else if updated < want {
        let left = want - updated;
        return Verdict::noted(format!(
            "{left} pods are not updated, because the update strategy is OnDelete"
        ));
    } else {
        return Verdict::ready();
    };
    Verdict::ailing_or_waiting(ailments(object, observed, grace, want), missing)
}

fn ailments(object: &Object, observed: &Observed<'_>, grace: &Grace, want: i64) -> Vec<Ailment> {
    // The controller still writes both, although it calls them deprecated.
    let template = object.annotation("deprecated.daemonset.template.generation");
    let is_new = |pod: &&&Object| {
        let of = pod.label("pod-template-generation");
        template.is_none() || of.is_none() || template == of
    };
    let new: Vec<&Object> = observed.pods.iter().filter(is_new).copied().collect();
    let mut found = pods::ailments(&new, grace);
    let present = i64::try_from(observed.pods.len()).unwrap_or(i64::MAX);
    found.extend(refusal(observed).filter(|_| present < want));
    found
}

/// Names the nodes whose pods are not ready: a node that is down blocks for ever (kubernetes issue 53023).
fn on_nodes(observed: &Observed<'_>) -> String {
    let mut nodes: Vec<&str> = observed
        .pods
        .iter()
        .filter(|pod| !pods::is_ready(pod))
        .map(|pod| text(pod.body(), "/spec/nodeName"))
        .filter(|node| !node.is_empty())
        .take(3)
        .collect();
    nodes.sort_unstable();
    if nodes.is_empty() { String::new() } else { format!("; not on {}", nodes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{check, object, pod, target, waiting};
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn with(status: Value, spec: Value, pods: &[Object], want: &str) {
        let annotations = json!({"deprecated.daemonset.template.generation": "2"});
        let body = json!({"metadata": {"annotations": annotations}, "spec": spec, "status": status});
        let live = object("apps/v1", "DaemonSet", body);
        let observed = Observed { object: Some(&live), pods: pods.iter().collect(), ..Observed::default() };
        check(&target(&live), &observed, want);
    }

    fn status(updated: i64, available: i64) -> Value {
        json!({"observedGeneration": 1, "desiredNumberScheduled": 2, "updatedNumberScheduled": updated, "numberAvailable": available})
    }

    #[test]
    fn counts() {
        with(status(2, 2), json!({}), &[], "ready");
        with(json!({}), json!({}), &[], "waiting: its controller has not seen the change yet");
        with(status(1, 2), json!({}), &[], "waiting: 1 of 2 pods are updated");
        with(json!({"observedGeneration": 1}), json!({}), &[], "ready");
        let down = pod("x-a", "", false, json!({"spec": {"nodeName": "n1"}}));
        with(status(2, 1), json!({}), &[down], "waiting: 1 of 2 pods are available; not on n1");
    }

    #[test]
    fn on_delete_is_no_error() {
        let spec = json!({"updateStrategy": {"type": "OnDelete"}});
        let note = "ready: 1 pods are not updated, because the update strategy is OnDelete";
        with(status(1, 2), spec, &[], note);
    }

    #[test]
    fn only_new_pods_count() {
        let of = |generation: &str| {
            let mut extra = waiting("ErrImagePull", 0);
            extra["metadata"] = json!({"labels": {"pod-template-generation": generation}});
            pod("x-a", "", false, extra)
        };
        with(status(1, 1), json!({}), &[of("1")], "waiting: 1 of 2 pods are updated");
        with(status(1, 1), json!({}), &[of("2")], "Image: pod x-a, container main: ErrImagePull: words");
    }
}
