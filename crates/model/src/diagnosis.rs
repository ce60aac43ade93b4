//! What a person needs to see about an object that did not become ready.
//!
//! All texts come from the cluster as they are: whoever prints them sanitises them.

use serde::Serialize;

/// A diagnosis that fits on one screen. Parts that could not be read are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// The object's status in one line, such as `replicas 3, updated 1, ready 2`.
    pub status: String,
    /// The pod that shows the problem best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodState>,
    /// The latest events of the object, the pod and the pod's claims, oldest first; at most five.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Occurrence>,
    /// The end of the log of the container that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogTail>,
    /// The pod's claims that are not bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbound_claims: Vec<String>,
}

/// A pod's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodState {
    /// The pod's name.
    pub name: String,
    /// The phase.
    pub phase: String,
    /// The node, if it is bound to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The revision of the template that made it, if its owner keeps revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Why no node takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<String>,
    /// The containers that are not ready, init containers first.
    pub containers: Vec<ContainerState>,
}

/// A container's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerState {
    /// The container's name.
    pub name: String,
    /// The image.
    pub image: String,
    /// `waiting`, `running` or `terminated`.
    pub state: &'static str,
    /// Why it is in this state, such as `ImagePullBackOff`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The details.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// How often it was restarted.
    pub restarts: i64,
    /// How the last run ended: exit code and reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_exit: Option<(i64, String)>,
}

/// An event about an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// What it is about, as `Kind name`.
    pub about: String,
    /// The reason, such as `FailedScheduling`.
    pub reason: String,
    /// The details.
    pub message: String,
    /// How often it happened.
    pub count: i64,
    /// When it happened last, as the server writes it.
    pub last_seen: String,
}

/// The end of a container's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogTail {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Whether this is the log of the run before the present one.
    pub previous: bool,
    /// At most ten lines of at most 300 characters.
    pub lines: Vec<String>,
}
