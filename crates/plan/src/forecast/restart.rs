//! Which pods restart, and in what order.

use windlass_model::{ChangeKind, FieldChange, Forecast, Object};

use super::{count, note, ordinals, pace, text};

/// Says what a change of `spec.template` does to a workload's pods; `after` is the workload as it would be. Pods that
/// scaling adds or removes at the same time do not restart.
pub(super) fn of_template(before: &Object, after: &Object, delta: &[FieldChange]) -> Option<Forecast> {
    let changes: Vec<&FieldChange> =
        delta.iter().filter(|change| change.path.starts_with(&["spec", "template"])).collect();
    if changes.is_empty() {
        return None;
    }
    let forecast = match after.reference().kind.kind.as_str() {
        "StatefulSet" => stateful_set(before, after),
        "DaemonSet" if text(after, "/spec/updateStrategy/type") == Some("OnDelete") => Some(on_delete()),
        "DaemonSet" => Some(daemon_set(before, after)),
        _ => deployment(before, after),
    }?;
    Some(if changes.iter().all(|change| change.kind == ChangeKind::Reordered) {
        order_only(forecast, &changes)
    } else {
        at_most(caused(forecast, &changes), before)
    })
}

/// Says that not all pods may restart where an earlier rollout has not come to its end: going back leaves those alone that
/// still have the revision that comes back.
fn at_most(forecast: Forecast, before: &Object) -> Forecast {
    let Forecast::Restart { why, pods } = forecast else { return forecast };
    let why = match half_way(before) {
        Some((newest, all)) => format!(
            "{why}; not all of them, perhaps: {newest} of {all} pods have the newest revision, an earlier rollout being unfinished, and those that are as delivered already stay"
        ),
        None => why,
    };
    Forecast::Restart { why, pods }
}

/// Returns how many of how many pods have the newest revision, unless all have.
fn half_way(live: &Object) -> Option<(u64, u64)> {
    let status = &live.body()["status"];
    let number = |field: &str| status[field].as_u64().unwrap_or_default();
    let (newest, all) = match live.reference().kind.kind.as_str() {
        "StatefulSet" if status["currentRevision"] == status["updateRevision"] => return None,
        "DaemonSet" => (number("updatedNumberScheduled"), number("desiredNumberScheduled")),
        _ => (number("updatedReplicas"), number("replicas")),
    };
    (newest < all).then_some((newest, all))
}

/// How many causes a forecast names.
const MANY: usize = 3;

/// Adds what in the template makes the pods restart.
fn caused(forecast: Forecast, changes: &[&FieldChange]) -> Forecast {
    let Forecast::Restart { why, pods } = forecast else { return forecast };
    let mut causes: Vec<String> = Vec::new();
    for cause in changes.iter().map(|change| cause(&change.path.to_string())) {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let more = causes.len().saturating_sub(MANY);
    causes.truncate(MANY);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Forecast::Restart { why: format!("{why}; because of: {}{more}", causes.join(", ")), pods }
}

/// Says in short what a path below `spec.template` is: `image of db`, `annotation checksum/config`.
fn cause(path: &str) -> String {
    let below = path.trim_start_matches("spec.template.");
    for (map, entry) in [("annotations", "annotation"), ("labels", "label")] {
        if let Some(name) = below.strip_prefix("metadata.").and_then(|below| below.strip_prefix(map)) {
            let name = name.trim_matches(['.', '[', ']', '"']);
            // All of them at once have no name.
            return if name.is_empty() { map.to_owned() } else { format!("{entry} {name}") };
        }
    }
    let below = below.trim_start_matches("spec.");
    let named = |list: &str| {
        let (name, rest) = below.strip_prefix(list)?.strip_prefix("[name=")?.split_once(']')?;
        let field = rest.trim_start_matches('.').split(['.', '[']).next().filter(|field| !field.is_empty());
        let whole = || format!("{} {name}", list.trim_end_matches('s'));
        Some(field.map_or_else(whole, |field| format!("{field} of {name}")))
    };
    named("containers")
        .or_else(|| named("initContainers"))
        .unwrap_or_else(|| below.split(['.', '[']).next().unwrap_or(below).to_owned())
}

fn restart(pods: u64, why: impl Into<String>) -> Forecast {
    Forecast::Restart { why: why.into(), pods: usize::try_from(pods).ok() }
}

/// Returns how many pods there are before and after.
fn staying(before: &Object, after: &Object) -> u64 {
    count(before, "/spec/replicas", 1).min(count(after, "/spec/replicas", 1))
}

fn on_delete() -> Forecast {
    note(
        "no pod restarts by itself (updateStrategy OnDelete): each keeps the old template until it is deleted",
    )
}

fn daemon_set(before: &Object, after: &Object) -> Forecast {
    let nodes = before.body().pointer("/status/desiredNumberScheduled").and_then(serde_json::Value::as_u64);
    let pace = pace::of_daemon_set(after, nodes.unwrap_or(1));
    let pods = nodes.and_then(|nodes| usize::try_from(nodes).ok());
    Forecast::Restart { why: format!("its pod on every node is replaced, {pace}"), pods }
}

fn deployment(before: &Object, after: &Object) -> Option<Forecast> {
    let pods = staying(before, after);
    if pods == 0 {
        return None;
    }
    Some(if after.body().pointer("/spec/paused") == Some(&true.into()) {
        note("no pod restarts while the Deployment is paused")
    } else if text(after, "/spec/strategy/type") == Some("Recreate") {
        restart(pods, format!("all pods ({pods}) stop before new ones start (strategy Recreate)"))
    } else {
        let pace = pace::of_deployment(after, count(after, "/spec/replicas", 1));
        restart(pods, format!("all pods ({pods}) are replaced by a rolling update, {pace}"))
    })
}

fn stateful_set(before: &Object, after: &Object) -> Option<Forecast> {
    let replicas = staying(before, after);
    if replicas == 0 {
        return None;
    }
    if text(after, "/spec/updateStrategy/type") == Some("OnDelete") {
        return Some(on_delete());
    }
    let partition = count(after, "/spec/updateStrategy/rollingUpdate/partition", 0);
    if partition >= replicas {
        return Some(note(format!("no pod restarts: the partition ({partition}) holds all {replicas} back")));
    }
    let going = ordinals(after, "", (partition..replicas).rev());
    let pace = match pace::of_stateful_set(after, count(after, "/spec/replicas", 1)) {
        1 => "one after the other".to_owned(),
        most => format!("{most} at a time"),
    };
    let held = if partition == 0 {
        String::new()
    } else {
        let held = ordinals(after, "", (0..partition).rev());
        format!("; held back by the partition ({partition}): {held}")
    };
    Some(restart(replicas - partition, format!("{pace}: {going}{held}")))
}

fn order_only(forecast: Forecast, changes: &[&FieldChange]) -> Forecast {
    let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    match forecast {
        Forecast::Restart { why, pods } => Forecast::Restart {
            why: format!(
                "{why} (only the order of {} changes, which restarts pods all the same)",
                paths.join(", ")
            ),
            pods,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_model::{GroupKind, delta};

    use super::*;

    fn check(kind: &str, spec: &Value, want: Option<&str>) {
        check_scaled(kind, spec, spec, want);
    }

    fn check_scaled(kind: &str, before: &Value, after: &Value, want: Option<&str>) {
        let object = |spec: &Value, image: &str| {
            let mut body = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db"}, "spec": spec,
                "status": {"desiredNumberScheduled": 7}});
            body["spec"]["template"] = json!({"image": image});
            Object::new(body, None).unwrap()
        };
        let (before, after) = (object(before, "a"), object(after, "b"));
        let changes = delta(&GroupKind::new("apps", kind), before.body(), after.body());
        let got = of_template(&before, &after, &changes).map(|forecast| match forecast {
            Forecast::Restart { why, pods } => format!("restart {}: {why}", pods.unwrap()),
            Forecast::Note { text } => format!("note: {text}"),
            other => format!("{other:?}"),
        });
        assert!(
            match (&got, want) {
                (Some(got), Some(want)) => got.starts_with(want),
                (None, None) => true,
                _ => false,
            },
            "{got:?} is not {want:?}"
        );
    }

    #[test]
    fn stateful_sets_restart_from_the_highest_ordinal_down() {
        let set = |spec: Value, want: &str| check("StatefulSet", &spec, Some(want));
        let rolling = |replicas: u64, rolling: Value| json!({"replicas": replicas, "updateStrategy": {"rollingUpdate": rolling}});
        set(json!({"replicas": 3}), "restart 3: one after the other: db-2, db-1, db-0");
        set(
            rolling(3, json!({"partition": 2})),
            "restart 1: one after the other: db-2; held back by the partition (2): db-1, db-0",
        );
        set(json!({"replicas": 2, "ordinals": {"start": 5}}), "restart 2: one after the other: db-6, db-5");
        set(json!({"replicas": 9}), "restart 9: one after the other: db-8 … db-0 (9)");
        set(rolling(3, json!({"maxUnavailable": 2})), "restart 3: 2 at a time: db-2, db-1, db-0");
        set(rolling(2, json!({"partition": 5})), "note: no pod restarts: the partition");
        set(json!({"updateStrategy": {"type": "OnDelete"}}), "note: no pod restarts by");
        check("StatefulSet", &json!({"replicas": 0}), None);
    }

    /// Going back out of a rollout that stands still was said to restart every pod.
    #[test]
    fn an_unfinished_rollout_may_leave_pods_alone() {
        let check = |kind: &str, status: Value, want: Option<&str>| {
            let body = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db"},
                "spec": {"replicas": 3, "template": {"image": "a"}}, "status": status});
            let before = Object::new(body, None).unwrap();
            let mut after = before.clone().into_body();
            after["spec"]["template"]["image"] = json!("b");
            let after = Object::new(after, None).unwrap();
            let changes = delta(&GroupKind::new("apps", kind), before.body(), after.body());
            let Some(Forecast::Restart { why, .. }) = of_template(&before, &after, &changes) else {
                panic!()
            };
            assert_eq!(why.contains("not all of them"), want.is_some(), "{why}");
            assert!(want.is_none_or(|want| why.contains(want)), "{why}");
        };
        let set = |current: &str, updated: u64| json!({"currentRevision": current, "updateRevision": "db-2", "replicas": 3, "updatedReplicas": updated});
        check("StatefulSet", set("db-1", 1), Some("1 of 3 pods have the newest revision"));
        check("StatefulSet", set("db-2", 0), None);
        check("Deployment", json!({"replicas": 3, "updatedReplicas": 2}), Some("2 of 3 pods"));
        check("Deployment", json!({"replicas": 3, "updatedReplicas": 3}), None);
        check(
            "DaemonSet",
            json!({"desiredNumberScheduled": 4, "updatedNumberScheduled": 1}),
            Some("1 of 4 pods"),
        );
        check("StatefulSet", json!({}), None);
    }

    #[test]
    fn deployments_and_daemon_sets() {
        let two =
            "restart 2: all pods (2) are replaced by a rolling update, at most 1 more and 0 fewer at a time";
        check("Deployment", &json!({"replicas": 2}), Some(two));
        check("Deployment", &json!({"strategy": {"type": "Recreate"}}), Some("restart 1: all pods (1) stop"));
        check("Deployment", &json!({"paused": true}), Some("note: no pod restarts while"));
        check("DaemonSet", &json!({}), Some("restart 7: its pod on every node is replaced, node by node"));
        check(
            "DaemonSet",
            &json!({"updateStrategy": {"type": "OnDelete"}}),
            Some("note: no pod restarts by"),
        );
    }

    #[test]
    fn pods_that_scaling_adds_or_removes_do_not_restart() {
        let replicas = |count: u64| json!({"replicas": count});
        check_scaled(
            "StatefulSet",
            &replicas(2),
            &replicas(4),
            Some("restart 2: one after the other: db-1, db-0"),
        );
        check_scaled("StatefulSet", &replicas(4), &replicas(1), Some("restart 1: one after the other: db-0"));
        check_scaled("Deployment", &replicas(5), &replicas(2), Some("restart 2: all pods (2)"));
        check_scaled("Deployment", &replicas(0), &replicas(2), None);
        check_scaled("Deployment", &replicas(2), &replicas(0), None);
    }

    #[test]
    fn causes_are_named_in_short() {
        for (path, want) in [
            ("spec.template.spec.containers[name=db].image", "image of db"),
            ("spec.template.spec.initContainers[name=init].env[name=A].value", "env of init"),
            ("spec.template.spec.containers[name=new]", "container new"),
            ("spec.template.metadata.annotations[\"checksum/config\"]", "annotation checksum/config"),
            ("spec.template.metadata.annotations.stamp", "annotation stamp"),
            ("spec.template.metadata.annotations", "annotations"),
            ("spec.template.metadata.labels.tier", "label tier"),
            ("spec.template.spec.volumes[name=conf].configMap.name", "volumes"),
            ("spec.template.spec.nodeSelector", "nodeSelector"),
        ] {
            assert_eq!(cause(path), want, "{path}");
        }
    }

    /// kubernetes issue 108708.
    #[test]
    fn a_change_of_order_alone_restarts_too() {
        let body = |env: Value| {
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"},
                "spec": {"template": {"env": env}}})
        };
        let before = body(json!([{"name": "A"}, {"name": "B"}]));
        let after = Object::new(body(json!([{"name": "B"}, {"name": "A"}])), None).unwrap();
        let changes = delta(&GroupKind::new("apps", "Deployment"), &before, after.body());
        let before = Object::new(before, None).unwrap();
        let Some(Forecast::Restart { why, .. }) = of_template(&before, &after, &changes) else {
            panic!("no restart")
        };
        assert!(why.contains("only the order of spec.template.env changes"), "{why}");
    }
}
