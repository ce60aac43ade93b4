//! How much care an action asks for.

use windlass_model::{Forecast, GroupKind, Object, Operation, Risk, holds_data};

use crate::kinds;

/// Classifies an action by what happens, to what, and what follows.
pub(crate) fn of(operation: Operation, kind: &GroupKind, forecasts: &[Forecast]) -> Risk {
    let follows = forecasts.iter().map(of_forecast).max().unwrap_or(Risk::None);
    match operation {
        Operation::NoOp | Operation::Keep => Risk::None,
        Operation::Prune | Operation::Recreate if holds_data(kind) => Risk::Data,
        Operation::Prune | Operation::Recreate => follows.max(Risk::Deletion),
        Operation::Update | Operation::Adopt if kinds::is_namespace(kind) => Risk::Access.max(follows),
        Operation::Create | Operation::Update | Operation::Adopt => of_kind(kind).max(follows),
    }
}

/// Returns the risk of what an object opens: whoever creates or changes a Service that is reachable from outside the cluster
/// changes access.
pub(crate) fn of_exposure(operation: Operation, object: &Object) -> Risk {
    let spec = &object.body()["spec"];
    let opens = matches!(spec["type"].as_str(), Some("LoadBalancer" | "NodePort"))
        || spec["externalIPs"].as_array().is_some_and(|ips| !ips.is_empty());
    let writes = matches!(operation, Operation::Create | Operation::Update | Operation::Adopt);
    if writes && object.reference().kind.is("", "Service") && opens { Risk::Access } else { Risk::None }
}

fn of_forecast(forecast: &Forecast) -> Risk {
    match forecast {
        Forecast::DataLoss { .. } => Risk::Data,
        Forecast::Restart { .. } => Risk::Restart,
        Forecast::Cascade { volumes, .. } if *volumes > 0 => Risk::Data,
        Forecast::Cascade { .. } | Forecast::Note { .. } => Risk::None,
    }
}

/// Labels of a live namespace count as access: they decide which policies apply to what lives in it.
fn of_kind(kind: &GroupKind) -> Risk {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => Risk::Definition,
        ("rbac.authorization.k8s.io" | "admissionregistration.k8s.io", _)
        | ("storage.k8s.io", "StorageClass")
        | ("networking.k8s.io", "NetworkPolicy")
        | ("scheduling.k8s.io", "PriorityClass") => Risk::Access,
        _ => Risk::Routine,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_service_that_opens_the_cluster_changes_access() {
        let check = |operation: Operation, spec: Value, want: Risk| {
            let body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b"}, "spec": spec});
            assert_eq!(of_exposure(operation, &Object::new(body, None).unwrap()), want);
        };
        check(Operation::Create, json!({"type": "LoadBalancer"}), Risk::Access);
        check(Operation::Update, json!({"type": "NodePort"}), Risk::Access);
        check(Operation::Create, json!({"externalIPs": ["192.0.2.1"]}), Risk::Access);
        check(Operation::NoOp, json!({"type": "LoadBalancer"}), Risk::None);
        check(Operation::Create, json!({"type": "ClusterIP", "externalIPs": []}), Risk::None);
    }

    #[test]
    fn by_operation_kind_and_forecast() {
        let restart = Forecast::Restart { why: String::new(), pods: None };
        let loss = Forecast::DataLoss { what: String::new() };
        for (operation, kind, forecasts, want) in [
            (Operation::NoOp, "Role.rbac.authorization.k8s.io", vec![], Risk::None),
            (Operation::Keep, "PersistentVolumeClaim", vec![], Risk::None),
            (Operation::Create, "ConfigMap", vec![], Risk::Routine),
            (Operation::Update, "StatefulSet.apps", vec![restart.clone()], Risk::Restart),
            (Operation::Update, "StatefulSet.apps", vec![restart, loss.clone()], Risk::Data),
            (Operation::Create, "Role.rbac.authorization.k8s.io", vec![], Risk::Access),
            (Operation::Create, "Namespace", vec![], Risk::Routine),
            (Operation::Update, "Namespace", vec![], Risk::Access),
            (Operation::Update, "CustomResourceDefinition.apiextensions.k8s.io", vec![], Risk::Definition),
            (Operation::Prune, "ConfigMap", vec![], Risk::Deletion),
            (Operation::Prune, "PersistentVolumeClaim", vec![loss], Risk::Data),
            (Operation::Recreate, "StatefulSet.apps", vec![], Risk::Data),
            (Operation::Recreate, "Service", vec![], Risk::Deletion),
        ] {
            assert_eq!(
                of(operation, &GroupKind::from(kind.to_owned()), &forecasts),
                want,
                "{operation:?} {kind}"
            );
        }
    }
}
