//! Which pods restart, and in what order.

use windlass_model::{ChangeKind, FieldChange, Forecast, Object};

use super::{count, note, ordinals, text};

/// Says what a change of `spec.template` does to a workload's pods; `after` is the workload as it would be.
pub(super) fn of_template(after: &Object, delta: &[FieldChange]) -> Option<Forecast> {
    let changes: Vec<&FieldChange> =
        delta.iter().filter(|change| change.path.starts_with(&["spec", "template"])).collect();
    if changes.is_empty() {
        return None;
    }
    let forecast = match after.reference().kind.kind.as_str() {
        "StatefulSet" => stateful_set(after),
        "DaemonSet" if text(after, "/spec/updateStrategy/type") == Some("OnDelete") => Some(on_delete()),
        "DaemonSet" => Some(restart("its pod on every node is replaced, node by node")),
        _ => deployment(after),
    }?;
    Some(if changes.iter().all(|change| change.kind == ChangeKind::Reordered) {
        order_only(forecast, &changes)
    } else {
        caused(forecast, &changes)
    })
}

/// How many causes a forecast names.
const MANY: usize = 3;

/// Adds what in the template makes the pods restart.
fn caused(forecast: Forecast, changes: &[&FieldChange]) -> Forecast {
    let Forecast::Restart { why } = forecast else { return forecast };
    let mut causes: Vec<String> = Vec::new();
    for cause in changes.iter().map(|change| cause(&change.path.to_string())) {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let more = causes.len().saturating_sub(MANY);
    causes.truncate(MANY);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    restart(format!("{why}; because of: {}{more}", causes.join(", ")))
}

/// Says in short what a path below `spec.template` is: `image of db`, `annotation checksum/config`.
fn cause(path: &str) -> String {
    let below = path.trim_start_matches("spec.template.");
    if let Some(name) = below.strip_prefix("metadata.annotations") {
        return format!("annotation {}", name.trim_matches(['.', '[', ']', '"']));
    }
    let below = below.trim_start_matches("spec.");
    let named = |list: &str| {
        let (name, rest) = below.strip_prefix(list)?.strip_prefix("[name=")?.split_once(']')?;
        let field = rest.trim_start_matches('.').split(['.', '[']).next().filter(|field| !field.is_empty());
        Some(field.map_or_else(|| format!("{list} {name}"), |field| format!("{field} of {name}")))
    };
    named("containers")
        .or_else(|| named("initContainers"))
        .unwrap_or_else(|| below.split(['.', '[']).next().unwrap_or(below).to_owned())
}

fn restart(why: impl Into<String>) -> Forecast {
    Forecast::Restart { why: why.into() }
}

fn on_delete() -> Forecast {
    note(
        "no pod restarts by itself (updateStrategy OnDelete): each keeps the old template until it is deleted",
    )
}

fn deployment(after: &Object) -> Option<Forecast> {
    let replicas = count(after, "/spec/replicas", 1);
    if replicas == 0 {
        return None;
    }
    Some(if after.body().pointer("/spec/paused") == Some(&true.into()) {
        note("no pod restarts while the Deployment is paused")
    } else if text(after, "/spec/strategy/type") == Some("Recreate") {
        restart(format!("all pods ({replicas}) stop before new ones start (strategy Recreate)"))
    } else {
        restart(format!("all pods ({replicas}) are replaced by a rolling update"))
    })
}

fn stateful_set(after: &Object) -> Option<Forecast> {
    let replicas = count(after, "/spec/replicas", 1);
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
    Some(restart(if partition == 0 {
        format!("one after the other: {going}")
    } else {
        let held = ordinals(after, "", (0..partition).rev());
        format!("one after the other: {going}; held back by the partition ({partition}): {held}")
    }))
}

fn order_only(forecast: Forecast, changes: &[&FieldChange]) -> Forecast {
    let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
    match forecast {
        Forecast::Restart { why } => restart(format!(
            "{why} (only the order of {} changes, which restarts pods all the same)",
            paths.join(", ")
        )),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_model::{GroupKind, delta};

    use super::*;

    fn check(kind: &str, spec: &Value, want: Option<&str>) {
        let object = |image: &str| {
            let mut body =
                json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db"}, "spec": spec});
            body["spec"]["template"] = json!({"image": image});
            Object::new(body, None).unwrap()
        };
        let (before, after) = (object("a"), object("b"));
        let changes = delta(&GroupKind::new("apps", kind), before.body(), after.body());
        let got = of_template(&after, &changes).map(|forecast| match forecast {
            Forecast::Restart { why } => format!("restart: {why}"),
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
        check("StatefulSet", &json!({"replicas": 3}), Some("restart: one after the other: db-2, db-1, db-0"));
        check(
            "StatefulSet",
            &json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}}),
            Some("restart: one after the other: db-2; held back by the partition (2): db-1, db-0"),
        );
        check(
            "StatefulSet",
            &json!({"replicas": 2, "ordinals": {"start": 5}}),
            Some("restart: one after the other: db-6, db-5"),
        );
        check("StatefulSet", &json!({"replicas": 9}), Some("restart: one after the other: db-8 … db-0 (9)"));
        check(
            "StatefulSet",
            &json!({"replicas": 2, "updateStrategy": {"rollingUpdate": {"partition": 5}}}),
            Some("note: no pod restarts: the partition"),
        );
        check(
            "StatefulSet",
            &json!({"updateStrategy": {"type": "OnDelete"}}),
            Some("note: no pod restarts by"),
        );
        check("StatefulSet", &json!({"replicas": 0}), None);
    }

    #[test]
    fn deployments_and_daemon_sets() {
        check("Deployment", &json!({"replicas": 2}), Some("restart: all pods (2) are replaced"));
        check("Deployment", &json!({"strategy": {"type": "Recreate"}}), Some("restart: all pods (1) stop"));
        check("Deployment", &json!({"paused": true}), Some("note: no pod restarts while"));
        check("DaemonSet", &json!({}), Some("restart: its pod on every node"));
        check(
            "DaemonSet",
            &json!({"updateStrategy": {"type": "OnDelete"}}),
            Some("note: no pod restarts by"),
        );
    }

    #[test]
    fn causes_are_named_in_short() {
        for (path, want) in [
            ("spec.template.spec.containers[name=db].image", "image of db"),
            ("spec.template.spec.initContainers[name=init].env[name=A].value", "env of init"),
            ("spec.template.spec.containers[name=new]", "containers new"),
            ("spec.template.metadata.annotations[\"checksum/config\"]", "annotation checksum/config"),
            ("spec.template.metadata.annotations.stamp", "annotation stamp"),
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
        let Some(Forecast::Restart { why }) = of_template(&after, &changes) else { panic!("no restart") };
        assert!(why.contains("only the order of spec.template.env changes"), "{why}");
    }
}
