//! Shared by the tables of the judge's tests.

use serde_json::{Value, json};
use windlass_model::Object;

use super::{Observed, judge};
use crate::{Grace, Target, Verdict};

/// Merges `extra` over a minimal object.
pub(super) fn object(api_version: &str, kind: &str, extra: Value) -> Object {
    let mut body = json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"name": "x", "namespace": "shop", "uid": "u", "generation": 1}});
    merge(&mut body, extra);
    Object::new(body, None).unwrap()
}

/// A pod of `x` with a revision label; `state` is merged over it.
pub(super) fn pod(name: &str, revision: &str, ready: bool, extra: Value) -> Object {
    let mut body = json!({"metadata": {"name": name,
            "labels": {"controller-revision-hash": revision, "pod-template-hash": revision},
            "ownerReferences": [{"controller": true, "uid": "u"}]},
        "status": {"conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}});
    merge(&mut body, extra);
    object("v1", "Pod", body)
}

/// What a container that waits looks like.
pub(super) fn waiting(reason: &str, restarts: i64) -> Value {
    json!({"status": {"containerStatuses": [{"name": "main", "restartCount": restarts,
        "state": {"waiting": {"reason": reason, "message": "words"}}}]}})
}

pub(super) fn target(live: &Object) -> Target {
    Target::of(live, true)
}

/// Compares a verdict, written as `ready`, `ready: note`, `waiting: …`, `failed: …` or `Cause: …`.
pub(super) fn check(target: &Target, observed: &Observed<'_>, want: &str) {
    let got = match judge(target, observed, &Grace::default()) {
        Verdict::Ready { notes } if notes.is_empty() => "ready".to_owned(),
        Verdict::Ready { notes } => format!("ready: {}", notes.join("; ")),
        Verdict::Waiting { reason } => format!("waiting: {reason}"),
        Verdict::Failed { reason } => format!("failed: {reason}"),
        Verdict::Ailing { ailments } => format!("{:?}: {}", ailments[0].cause, ailments[0].reason),
    };
    assert_eq!(got, want);
}

fn merge(into: &mut Value, extra: Value) {
    match (into, extra) {
        (Value::Object(into), Value::Object(extra)) => {
            for (key, value) in extra {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, extra) => *into = extra,
    }
}
