//! How many pods of a workload are replaced at once.

use serde_json::Value;
use windlass_model::Object;

/// Says how far a Deployment of `replicas` pods may grow and shrink while it rolls. The server writes its defaults into
/// every Deployment; a surge is rounded up, a lack down, and one of the two is at least 1
/// (`k8s.io/kubernetes/pkg/controller/deployment/util`, `ResolveFenceposts`).
pub(super) fn of_deployment(deployment: &Object, replicas: u64) -> String {
    let at = |field: &str| deployment.body().pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
    let surge = share(at("maxSurge"), "25%", replicas, Rounding::Up);
    let mut lack = share(at("maxUnavailable"), "25%", replicas, Rounding::Down);
    if surge == 0 && lack == 0 {
        lack = 1;
    }
    format!("at most {surge} more and {lack} fewer at a time")
}

/// Returns how many members of a StatefulSet may be down at once (KEP-961): at least one.
pub(super) fn of_stateful_set(set: &Object, replicas: u64) -> u64 {
    let most = set.body().pointer("/spec/updateStrategy/rollingUpdate/maxUnavailable");
    share(most, "1", replicas, Rounding::Down).max(1)
}

/// Says on how many of `nodes` a DaemonSet replaces its pod at a time: with a surge the new pod starts first
/// (KEP-1591), and both shares are rounded up.
pub(super) fn of_daemon_set(set: &Object, nodes: u64) -> String {
    let at = |field: &str| set.body().pointer(&format!("/spec/updateStrategy/rollingUpdate/{field}"));
    let surge = share(at("maxSurge"), "0", nodes, Rounding::Up);
    let (count, first) = match surge {
        0 => (share(at("maxUnavailable"), "1", nodes, Rounding::Up).max(1), ""),
        surge => (surge, ", the new pod before the old one goes"),
    };
    match count {
        1 => format!("node by node{first}"),
        count => format!("{count} nodes at a time{first}"),
    }
}

#[derive(Clone, Copy)]
enum Rounding {
    Up,
    Down,
}

/// Reads a number, or a percentage of a total (`k8s.io/apimachinery/pkg/util/intstr`).
fn share(value: Option<&Value>, default: &str, total: u64, rounding: Rounding) -> u64 {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => default.to_owned(),
    };
    match text.strip_suffix('%') {
        Some(percent) => {
            let hundredths = percent.parse::<u64>().unwrap_or_default().saturating_mul(total);
            match rounding {
                Rounding::Up => hundredths.div_ceil(100),
                Rounding::Down => hundredths / 100,
            }
        }
        None => text.parse().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workload(kind: &str, spec: &Value) -> Object {
        let body = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    #[test]
    fn deployments_round_as_their_controller_does() {
        let check = |rolling: Value, replicas: u64, want: &str| {
            let spec = json!({"strategy": {"rollingUpdate": rolling}});
            let got = of_deployment(&workload("Deployment", &spec), replicas);
            assert_eq!(got, format!("at most {want} fewer at a time"), "{spec} {replicas}");
        };
        check(json!({"maxSurge": "25%", "maxUnavailable": "25%"}), 3, "1 more and 0");
        check(json!({}), 8, "2 more and 2");
        check(json!({"maxSurge": 0, "maxUnavailable": "10%"}), 3, "0 more and 1");
        check(json!({"maxSurge": "50%", "maxUnavailable": 1}), 3, "2 more and 1");
    }

    #[test]
    fn stateful_sets_and_daemon_sets() {
        let set = |most: Value| {
            workload("StatefulSet", &json!({"updateStrategy": {"rollingUpdate": {"maxUnavailable": most}}}))
        };
        for (most, want) in [(Value::Null, 1), (json!(2), 2), (json!("50%"), 2), (json!("10%"), 1)] {
            assert_eq!(of_stateful_set(&set(most.clone()), 5), want, "{most}");
        }
        for (rolling, want) in [
            (json!({}), "node by node"),
            (json!({"maxUnavailable": "10%"}), "2 nodes at a time"),
            (
                json!({"maxSurge": 1, "maxUnavailable": 0}),
                "node by node, the new pod before the old one goes",
            ),
        ] {
            let set = workload("DaemonSet", &json!({"updateStrategy": {"rollingUpdate": rolling}}));
            assert_eq!(of_daemon_set(&set, 11), want);
        }
    }
}
