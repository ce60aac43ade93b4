//! Collecting what a person needs to see.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use windlass_cluster::{Cluster, LogOptions};
use windlass_model::{
    ContainerState, Diagnosis, GroupKind, LogTail, Object, ObjectRef, Occurrence, PodState,
};

use crate::fields::{condition, list, number, text};
use crate::judge::Observed;
use crate::{Target, pods};

const EVENTS: usize = 5;
const LOG_LINES: u32 = 10;
const LINE_LENGTH: usize = 300;

/// Collects what there is to see about a target that is not ready, until a moment. What cannot be read is
/// left out: a diagnosis never fails.
pub(crate) async fn diagnose(
    cluster: &Cluster,
    target: &Target,
    observed: &Observed<'_>,
    pod: Option<&Object>,
    until: Instant,
) -> Diagnosis {
    let own_pod = observed.object.filter(|object| object.reference().kind.is("", "Pod"));
    let pod = pod.or(own_pod).or_else(|| worst(&observed.pods));
    let mut diagnosis = Diagnosis {
        status: observed.object.or(observed.last_seen).map(status_line).unwrap_or_default(),
        pod: pod.map(pod_state),
        ..Diagnosis::default()
    };
    let rest = async {
        let claims = match pod {
            Some(pod) => unbound_claims(cluster, pod).await,
            None => Vec::new(),
        };
        let mut subjects = vec![target.object.clone()];
        subjects.extend(pod.map(|pod| pod.reference().clone()).filter(|pod| *pod != target.object));
        subjects.extend(
            observed.replica_sets.iter().filter(|_| pod.is_none()).map(|set| set.reference().clone()),
        );
        subjects.extend(claims.iter().cloned());
        diagnosis.unbound_claims = claims.into_iter().map(|claim| claim.name).collect();
        diagnosis.events = events(cluster, &subjects).await;
        if let Some(pod) = pod {
            diagnosis.log = log(cluster, pod).await;
        }
    };
    // Whatever was not read in time stays absent.
    let _late = timeout_at(until, rest).await.is_err();
    diagnosis
}

/// Returns the pod that is furthest from being ready.
fn worst<'a>(pods: &[&'a Object]) -> Option<&'a Object> {
    let unready = pods.iter().filter(|pod| !pods::is_ready(pod) && !pod.is_terminating());
    unready.copied().max_by_key(|pod| {
        let restarts = pods::containers(pod).map(|container| number(container, "/restartCount")).max();
        (restarts, std::cmp::Reverse(pod.reference().name.clone()))
    })
}

/// Writes the plain numbers and texts of a status, and its conditions that are not well.
fn status_line(object: &Object) -> String {
    let mut parts = Vec::new();
    for (key, value) in object.body()["status"].as_object().into_iter().flatten() {
        match value {
            Value::Number(number) => parts.push(format!("{key} {number}")),
            Value::String(text) if text.len() <= 80 => parts.push(format!("{key} {text}")),
            _ => {}
        }
    }
    for condition in list(object.body(), "/status/conditions") {
        let name = text(condition, "/type");
        let is_bad =
            matches!(name, "ReplicaFailure" | "Failed" | "FailureTarget") == (condition["status"] == "True");
        if is_bad && name != "Suspended" {
            parts.push(format!("{name}={} ({})", text(condition, "/status"), text(condition, "/reason")));
        }
    }
    parts.join(", ")
}

fn pod_state(pod: &Object) -> PodState {
    let body = pod.body();
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let scheduled = condition(pod, "PodScheduled").filter(|condition| condition["status"] == "False");
    PodState {
        name: pod.reference().name.clone(),
        phase: text(body, "/status/phase").to_owned(),
        node: some(text(body, "/spec/nodeName")),
        revision: pod.label(pods::REVISION).or_else(|| pod.label("pod-template-hash")).map(str::to_owned),
        unschedulable: scheduled.map(|condition| text(condition, "/message").to_owned()),
        containers: pods::containers(pod)
            .filter(|container| is_in_the_way(container))
            .map(container_state)
            .collect(),
    }
}

/// Leaves out what serves and init containers that are done.
fn is_in_the_way(container: &Value) -> bool {
    let done = container.pointer("/state/terminated").is_some_and(|end| end["exitCode"] == 0);
    container["ready"] != true && !done
}

fn container_state(container: &Value) -> ContainerState {
    let state = ["waiting", "terminated", "running"]
        .into_iter()
        .find(|state| container.pointer(&format!("/state/{state}")).is_some_and(Value::is_object))
        .unwrap_or("waiting");
    let last = container.pointer("/lastState/terminated").or(container.pointer("/state/terminated"));
    ContainerState {
        name: text(container, "/name").to_owned(),
        image: text(container, "/image").to_owned(),
        state,
        reason: text(container, &format!("/state/{state}/reason")).to_owned(),
        message: text(container, &format!("/state/{state}/message")).to_owned(),
        restarts: number(container, "/restartCount"),
        last_exit: last.map(|last| (number(last, "/exitCode"), text(last, "/reason").to_owned())),
    }
}

async fn unbound_claims(cluster: &Cluster, pod: &Object) -> Vec<ObjectRef> {
    let mut unbound = Vec::new();
    for volume in list(pod.body(), "/spec/volumes") {
        let name = text(volume, "/persistentVolumeClaim/claimName");
        if name.is_empty() {
            continue;
        }
        let claim = ObjectRef {
            kind: GroupKind::new("", "PersistentVolumeClaim"),
            version: "v1".to_owned(),
            namespace: pod.reference().namespace.clone(),
            name: name.to_owned(),
        };
        let found = cluster.get(&claim).await.ok().flatten();
        if found.is_none_or(|claim| text(claim.body(), "/status/phase") != "Bound") {
            unbound.push(claim);
        }
    }
    unbound
}

async fn events(cluster: &Cluster, subjects: &[ObjectRef]) -> Vec<Occurrence> {
    let lists =
        futures::future::join_all(subjects.iter().take(6).map(|subject| cluster.events(subject))).await;
    most_telling(lists.into_iter().flatten().flatten().collect())
}

/// Returns the last warnings, and where there are few, the last of the other events too; the oldest first.
fn most_telling(mut events: Vec<Object>) -> Vec<Occurrence> {
    events.sort_by_cached_key(|event| {
        let is_warning = text(event.body(), "/type") == "Warning";
        (is_warning, occurrence(event).last_seen)
    });
    let kept = events.split_off(events.len().saturating_sub(EVENTS));
    let mut told: Vec<Occurrence> = kept.iter().map(occurrence).collect();
    told.sort_by(|a, b| a.last_seen.cmp(&b.last_seen));
    told
}

fn occurrence(event: &Object) -> Occurrence {
    let body = event.body();
    let stamps = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
    let last_seen = stamps.into_iter().map(|stamp| text(body, stamp)).find(|stamp| !stamp.is_empty());
    Occurrence {
        about: format!("{} {}", text(body, "/involvedObject/kind"), text(body, "/involvedObject/name")),
        reason: text(body, "/reason").to_owned(),
        message: text(body, "/message").to_owned(),
        count: number(body, "/count").max(number(body, "/series/count")).max(1),
        last_seen: last_seen.unwrap_or_default().to_owned(),
    }
}

/// Reads the log of the first container that runs badly: of its last run if it has crashed.
async fn log(cluster: &Cluster, pod: &Object) -> Option<LogTail> {
    let has_run = |container: &&Value| {
        number(container, "/restartCount") > 0
            || container.pointer("/state/running").is_some()
            || container.pointer("/state/terminated").is_some()
    };
    let container = pods::containers(pod).filter(|container| is_in_the_way(container)).find(has_run)?;
    let name = text(container, "/name");
    // A container that waits to be started again has only the log of its last run.
    let previous = number(container, "/restartCount") > 0 && container.pointer("/state/running").is_some();
    let namespace = pod.reference().namespace.as_deref()?;
    let options = LogOptions { container: name, previous, tail: LOG_LINES };
    let text = cluster.logs(namespace, &pod.reference().name, options).await.ok()?;
    let cut = |line: &str| line.chars().take(LINE_LENGTH).collect();
    let lines: Vec<String> = text.lines().map(cut).collect();
    let lines = lines[lines.len().saturating_sub(LOG_LINES as usize)..].to_vec();
    (!lines.is_empty()).then(|| LogTail {
        pod: pod.reference().name.clone(),
        container: name.to_owned(),
        previous,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Of a pod that starts and fails again and again, the ordinary events are the younger ones.
    #[test]
    fn warnings_are_told_before_later_ordinary_events() {
        let event = |number: usize, kind: &str| {
            let body = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("e{number}")},
                "type": kind, "reason": format!("{kind}{number}"),
                "lastTimestamp": format!("2026-01-01T00:00:{number:02}Z")});
            Object::new(body, None).unwrap()
        };
        let check = |kinds: &[&str], want: &[&str]| {
            let events = kinds.iter().enumerate().map(|(number, kind)| event(number, kind)).collect();
            let told = most_telling(events);
            assert_eq!(told.iter().map(|one| one.reason.as_str()).collect::<Vec<_>>(), want);
        };
        check(&["Normal", "Warning"], &["Normal0", "Warning1"]);
        let many = ["Warning", "Normal", "Normal", "Warning", "Normal", "Normal", "Normal"];
        check(&many, &["Warning0", "Warning3", "Normal4", "Normal5", "Normal6"]);
        check(&["Warning"; 7], &["Warning2", "Warning3", "Warning4", "Warning5", "Warning6"]);
    }
}
