//! One object under two names of its kind.

use serde_json::{Value, json};
use windlass_model::Operation;

use crate::bed::Bed;

/// cli-utils issue 613: what moves from one API group to the other is the same object, and deleting the old one deletes
/// the new one.
#[tokio::test]
async fn an_object_that_is_rendered_in_another_group_is_not_deleted_in_its_old_one() {
    let bed = Bed::new().await;
    let metadata = json!({"name": "noted", "namespace": bed.namespace});
    let about = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": bed.namespace});
    let common = |body: Value| {
        let mut event = body;
        for (key, value) in [
            ("kind", json!("Event")),
            ("metadata", metadata.clone()),
            ("type", json!("Normal")),
            ("reason", json!("Noted")),
            ("action", json!("Note")),
            ("eventTime", json!("2026-06-01T00:00:00.000000Z")),
            ("reportingInstance", json!("test-0")),
        ] {
            event[key] = value;
        }
        event
    };
    let old = common(json!({"apiVersion": "v1", "involvedObject": about, "message": "as it was",
        "reportingComponent": "windlass.dev/test"}));
    let new = common(json!({"apiVersion": "events.k8s.io/v1", "regarding": about, "note": "as it was",
        "reportingController": "windlass.dev/test"}));
    let stays = bed.config("stays", &json!({}));
    bed.deliver(&[("shop", &[stays.clone(), old])]).await;
    let plan = bed.plan(&[("shop", &[stays, new])]).await;
    let operations: Vec<(String, Operation)> =
        plan.actions.iter().map(|action| (action.object.kind.to_string(), action.operation)).collect();
    assert!(operations.iter().all(|(_, operation)| *operation != Operation::Prune), "{operations:?}");
    let moved = operations.iter().find(|(kind, _)| kind == "Event.events.k8s.io").unwrap();
    assert_ne!(moved.1, Operation::Create, "it is there already: {operations:?}");
}
