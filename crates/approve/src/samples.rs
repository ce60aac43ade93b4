//! Plans for tests.

use serde_json::{Value, json};
use windlass_model::{
    Action, Conflict, DestroyedVolume, Digest, GroupKind, LiveId, MigratedManager, Migration, ObjectRef,
    Operation, Plan, Risk, UnitName, delta,
};

pub(crate) const COMMIT: &str = "62bc080798ced7f198836a2a33ce522a55ebc7a9";

pub(crate) fn action(operation: Operation, kind: &str, name: &str, risk: Risk) -> Action {
    let live = (operation != Operation::Create).then(|| LiveId {
        uid: format!("uid-{name}"),
        resource_version: "41".to_owned(),
        generation: None,
        terminating: false,
    });
    let object = ObjectRef {
        kind: GroupKind::from(kind.to_owned()),
        version: "v1".to_owned(),
        namespace: Some("shop".to_owned()),
        name: name.to_owned(),
    };
    Action {
        live,
        desired: (operation == Operation::Create).then(|| Digest::of_bytes(name.as_bytes())),
        risk,
        ..Action::new(UnitName::new("shop").unwrap(), object, operation)
    }
}

/// An update that changes `spec.replicas`, or a Secret's data.
pub(crate) fn update(kind: &str, name: &str, replicas: u32) -> Action {
    let kind_ref = GroupKind::from(kind.to_owned());
    let state = |n: u32| json!({"spec": {"replicas": n}, "data": {"n": n.to_string()}});
    let mut action = action(Operation::Update, kind, name, Risk::Routine);
    action.delta = delta(&kind_ref, &state(1), &state(replicas));
    action.takes_over = vec![Conflict {
        field: "spec.replicas".to_owned(),
        manager: "kubectl".to_owned(),
        ..Conflict::default()
    }];
    action
}

/// The action after ownership has moved from the manager that the action takes a field from, and from another.
pub(crate) fn migrating(action: Action) -> Action {
    let from = |manager: &str| MigratedManager { manager: manager.to_owned(), last_write: None };
    let managers = vec![from("kubectl"), from("kubectl-edit")];
    Action { migration: Some(Migration { managers, ..Migration::default() }), ..action }
}

/// A volume that goes with its claim.
pub(crate) fn volume() -> DestroyedVolume {
    let [namespace, claim, name] = ["shop", "data-db-0", "pv-1"].map(str::to_owned);
    DestroyedVolume { namespace, claim, name }
}

/// A deletion that takes along all that one can.
fn taking() -> Action {
    let goes = action(Operation::Prune, "Namespace", "a", Risk::Deletion);
    let takes = vec![action(Operation::Prune, "Secret", "s", Risk::Deletion).object];
    Action { takes, destroys: vec![volume()], uncounted: true, ..goes }
}

pub(crate) use windlass_bed::plan_of as plan;

/// Every operation that writes, once, and two that do not.
pub(crate) fn mixed() -> Plan {
    plan(vec![
        action(Operation::Create, "ConfigMap", "new", Risk::Routine),
        update("StatefulSet.apps", "db", 3),
        update("Secret", "login", 2),
        migrating(update("Deployment.apps", "web", 4)),
        action(Operation::Prune, "Service", "old", Risk::Deletion),
        taking(),
        action(Operation::NoOp, "ConfigMap", "same", Risk::None),
        action(Operation::Keep, "ConfigMap", "foreign", Risk::None),
    ])
}

pub(crate) fn file(plan: &Plan) -> Value {
    serde_json::from_str(&plan.to_json().to_string()).unwrap()
}
