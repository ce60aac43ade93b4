//! What is wrong with a workload, on one screen.

use std::fmt::Write as _;

use windlass_model::{ContainerState, Diagnosis, ObjectRef, PodState};

/// Returns what is known about an object that failed, as several lines; not sanitised, the caller prints it as
/// details.
pub fn diagnosis_text(object: &ObjectRef, reason: &str, diagnosis: &Diagnosis) -> String {
    let Diagnosis { status, pod, events, log, unbound_claims } = diagnosis;
    let mut out = format!("{object}: {reason}");
    if !status.is_empty() {
        let _ = write!(out, "\n  status: {status}");
    }
    if let Some(pod) = pod {
        pod_lines(&mut out, pod);
    }
    for claim in unbound_claims {
        let _ = write!(out, "\n  claim not bound: {claim}");
    }
    if !events.is_empty() {
        out.push_str("\n  last events:");
    }
    for event in events {
        let count = if event.count > 1 { format!(" ({} times)", event.count) } else { String::new() };
        let _ = write!(out, "\n    {} {}: {}{count}", event.about, event.reason, event.message);
    }
    if let Some(log) = log {
        let which = if log.previous { "before its last restart" } else { "now" };
        let _ = write!(out, "\n  last log lines of {}/{} {which}:", log.pod, log.container);
        for line in &log.lines {
            let _ = write!(out, "\n    │ {line}");
        }
    }
    out
}

fn pod_lines(out: &mut String, pod: &PodState) {
    let node = pod.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
    let revision = pod.revision.as_ref().map(|revision| format!(", revision {revision}")).unwrap_or_default();
    let _ = write!(out, "\n  pod {}: {}{node}{revision}", pod.name, pod.phase);
    if let Some(why) = &pod.unschedulable {
        let _ = write!(out, "\n    no node takes it: {why}");
    }
    for container in &pod.containers {
        container_line(out, container);
    }
}

fn container_line(out: &mut String, container: &ContainerState) {
    let ContainerState { name, image, state, reason, message, restarts, last_exit } = container;
    let _ = write!(out, "\n    container {name} ({image}): {state}");
    for part in [reason, message] {
        if !part.is_empty() {
            let _ = write!(out, ", {part}");
        }
    }
    if *restarts > 0 {
        let _ = write!(out, ", {restarts} restarts");
    }
    if let Some((code, reason)) = last_exit {
        let _ = write!(out, ", last exit {code} {reason}");
    }
}
