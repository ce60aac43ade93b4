//! What a pod's status says about its chances.

use windlass_model::Object;

use crate::fields::{condition, condition_is, list, number, text};
use crate::{Ailment, Cause, Grace};

/// The label by which StatefulSets and DaemonSets mark the revision of a pod.
pub(crate) const REVISION: &str = "controller-revision-hash";

/// Says whether the pod serves.
pub(crate) fn is_ready(pod: &Object) -> bool {
    condition_is(pod, "Ready", "True") && !pod.is_terminating()
}

/// Returns why the pod will not become ready by waiting, if its status shows such a cause.
pub(crate) fn ailment(pod: &Object, grace: &Grace) -> Option<Ailment> {
    if pod.is_terminating() || is_ready(pod) {
        return None;
    }
    let name = &pod.reference().name;
    let ailment = |cause, reason| Some(Ailment { cause, reason, pod: Some(name.clone()) });
    for container in containers(pod) {
        let reason = text(container, "/state/waiting/reason");
        let Some(cause) = cause_of(reason) else { continue };
        let restarts = number(container, "/restartCount");
        let who = format!("pod {name}, container {}", text(container, "/name"));
        if cause != Cause::CrashLoop {
            return ailment(cause, format!("{who}: {reason}: {}", text(container, "/state/waiting/message")));
        }
        if restarts >= grace.restarts {
            return ailment(
                cause,
                format!("{who}: failed and restarted {restarts} times{}", last_exit(container)),
            );
        }
    }
    let scheduled = condition(pod, "PodScheduled")?;
    if scheduled["status"] == "False" && scheduled["reason"] == "Unschedulable" {
        return ailment(
            Cause::Unschedulable,
            format!("pod {name}: no node takes it: {}", text(scheduled, "/message")),
        );
    }
    None
}

/// Returns the last failure of a pod that is not ready at this moment: between two crashes it runs, and looks
/// well.
pub(crate) fn past_failure(pod: &Object, grace: &Grace) -> Option<Ailment> {
    if pod.is_terminating() || is_ready(pod) {
        return None;
    }
    let name = &pod.reference().name;
    let failed = containers(pod).find(|container| number(container, "/restartCount") >= grace.restarts)?;
    let restarts = number(failed, "/restartCount");
    let who = format!("pod {name}, container {}", text(failed, "/name"));
    let reason = format!("{who}: failed and restarted {restarts} times{}", last_exit(failed));
    Some(Ailment { cause: Cause::CrashLoop, reason, pod: Some(name.clone()) })
}

/// Returns the ailments of several pods, in the order of their names.
pub(crate) fn ailments(pods: &[&Object], grace: &Grace) -> Vec<Ailment> {
    let mut found: Vec<Ailment> = pods.iter().filter_map(|pod| ailment(pod, grace)).collect();
    found.sort_by(|a, b| a.pod.cmp(&b.pod));
    found
}

/// Returns the status of each container, init containers first.
pub(crate) fn containers(pod: &Object) -> impl Iterator<Item = &serde_json::Value> {
    let of = |pointer| list(pod.body(), pointer).iter();
    of("/status/initContainerStatuses").chain(of("/status/containerStatuses"))
}

/// Tells what the kubelet's reasons for a waiting container mean. A container that is still being created
/// has no cause.
fn cause_of(reason: &str) -> Option<Cause> {
    match reason {
        "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull"
        | "ImageInspectError" => Some(Cause::Image),
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => Some(Cause::Config),
        "CrashLoopBackOff" => Some(Cause::CrashLoop),
        _ => None,
    }
}

fn last_exit(container: &serde_json::Value) -> String {
    let last = "/lastState/terminated";
    if container.pointer(last).is_none() {
        return String::new();
    }
    let code = number(container, "/lastState/terminated/exitCode");
    match text(container, "/lastState/terminated/reason") {
        "" => format!(", last with exit code {code}"),
        reason => format!(", last with exit code {code} ({reason})"),
    }
}
