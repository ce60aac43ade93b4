//! Pods that nothing controls.

use windlass_model::Object;

use crate::fields::text;
use crate::{Grace, Verdict, pods};

pub(super) fn judge(object: &Object, grace: &Grace) -> Verdict {
    let body = object.body();
    match text(body, "/status/phase") {
        "Succeeded" => Verdict::ready(),
        "Failed" => Verdict::failed(format!(
            "failed: {}",
            [text(body, "/status/reason"), text(body, "/status/message")].join(" ").trim()
        )),
        _ if pods::is_ready(object) => Verdict::ready(),
        phase => {
            let ailments = pods::ailment(object, grace).into_iter().collect();
            Verdict::ailing_or_waiting(ailments, format!("it is not ready (phase {phase})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Observed;
    use super::super::testing::{check, pod, target};

    #[test]
    fn phases() {
        let with = |phase: &str, ready: bool, want: &str| {
            let live = pod("x", "", ready, json!({"status": {"phase": phase, "reason": "Evicted"}}));
            check(&target(&live), &Observed { object: Some(&live), ..Observed::default() }, want);
        };
        with("Succeeded", false, "ready");
        with("Failed", false, "failed: failed: Evicted");
        with("Running", true, "ready");
        with("Running", false, "waiting: it is not ready (phase Running)");
    }

    #[test]
    fn nobody_takes_it() {
        let conditions = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]);
        let live = pod("x", "", false, json!({"status": {"phase": "Pending", "conditions": conditions}}));
        let observed = Observed { object: Some(&live), ..Observed::default() };
        check(&target(&live), &observed, "Unschedulable: pod x: no node takes it: 0/3 nodes");
    }
}
