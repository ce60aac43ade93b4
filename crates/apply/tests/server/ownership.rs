//! Ownership that moves before an object is applied, and objects that are not sent as they are rendered.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use windlass_apply::{ApplyError, apply};
use windlass_cluster::{ApplyRequest, Expect};
use windlass_model::{
    CHOSEN, FieldSet, ManagedEntry, Migration, Object, Operation, Plan, Rendering, changes, without_chosen,
};

use crate::bed::{Bed, object};
use crate::kubectl::kubectl;
use crate::plan::{approve, plan, rendering};

/// A ConfigMap that was created by a POST with one field more than is delivered, and its rendering.
async fn created_before(bed: &Bed) -> (Object, Rendering) {
    let mut body = bed.map("a", "1").into_body();
    body["data"]["old"] = "1".into();
    bed.cluster.create(&object(body)).await.unwrap();
    let desired = bed.map("a", "1");
    let all = rendering(&[("shop", std::slice::from_ref(&desired))]);
    (desired, all)
}

/// Plans to move ownership first, foreseeing that these fields go.
async fn migrating(bed: &Bed, desired: &Object, all: &Rendering, going: &[&str]) -> Plan {
    let live = bed.get(desired.reference()).await.unwrap();
    let mut expected = live.body().clone();
    let data = expected["data"].as_object_mut().unwrap();
    data.retain(|key, _| !going.contains(&key.as_str()));
    let mut plan = plan(bed, all).await;
    let action = &mut plan.actions[0];
    action.operation = Operation::Adopt;
    action.delta = changes(&live, &live.with_body(expected));
    action.migration = Migration::find(&live, |manager| manager == "windlass", FieldSet::default());
    plan
}

#[tokio::test]
async fn ownership_moves_first_and_what_is_not_declared_goes() {
    let bed = Bed::up().await;
    let (desired, all) = created_before(&bed).await;
    let plan = migrating(&bed, &desired, &all, &["old"]).await;
    bed.sink.writes();
    apply(&approve(plan), &all, &bed.context()).await.unwrap();
    let parent = bed.set("shop").parent().name;
    assert_eq!(bed.sink.writes(), [format!("create {parent}"), "migrate a".into(), "update a".into()]);
    let live = bed.get(desired.reference()).await.unwrap();
    assert_eq!(live.body()["data"], json!({"k": "1"}));
    let managed: Vec<&str> = ManagedEntry::all(&live).map(ManagedEntry::operation).collect();
    assert_eq!(managed, ["Apply"]);
    bed.down().await;
}

/// Asked twice, the server makes up two ports, and neither is what was planned.
#[tokio::test]
async fn a_port_that_the_server_makes_up_is_no_other_change() {
    let bed = Bed::up().await;
    let service = |kind: &str| {
        object(
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": bed.namespace},
            "spec": {"type": kind, "selector": {"app": "web"}, "ports": [{"port": 80, "protocol": "TCP"}]}}),
        )
    };
    bed.cluster.create(&service("ClusterIP")).await.unwrap();
    let desired = service("NodePort");
    let all = rendering(&[("shop", std::slice::from_ref(&desired))]);
    let live = bed.get(desired.reference()).await.unwrap();
    let mut labelled = desired.clone();
    labelled.set_label(windlass_model::PART_OF, &bed.set("shop").id());
    let expect = Expect::Uid(live.uid().unwrap());
    let request = ApplyRequest { object: &labelled, expect, force: true, dry_run: true };
    let answer = bed.cluster.apply(request).await.unwrap().object;
    let mut plan = plan(&bed, &all).await;
    let action = &mut plan.actions[0];
    action.operation = Operation::Adopt;
    action.delta = changes(&live, &without_chosen(&desired, Some(&live), &answer));
    assert!(format!("{:?}", action.delta).contains(CHOSEN), "{:?}", action.delta);
    action.migration = Migration::find(&live, |manager| manager == "windlass", FieldSet::default());
    apply(&approve(plan), &all, &bed.context()).await.unwrap();
    let live = bed.get(desired.reference()).await.unwrap();
    assert!(live.body()["spec"]["ports"][0]["nodePort"].is_number(), "{:?}", live.body()["spec"]);
    bed.delete(desired.reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn an_object_that_changes_meanwhile_is_migrated_as_it_is_then() {
    let bed = Bed::up().await;
    let (desired, all) = created_before(&bed).await;
    let plan = migrating(&bed, &desired, &all, &["old"]).await;
    let (namespace, once) = (bed.namespace.clone(), AtomicBool::new(false));
    bed.sink.before("a", move || {
        if !once.swap(true, Ordering::Relaxed) {
            let (done, said) = kubectl(&namespace, &["annotate", "configmap", "a", "x=1"]);
            assert!(done, "{said}");
        }
    });
    // The annotation is somebody else's and no part of the delta, so the plan still holds.
    let error = apply(&approve(plan), &all, &bed.context()).await;
    assert!(error.is_ok(), "{error:?}");
    let live = bed.get(desired.reference()).await.unwrap();
    assert_eq!((live.annotation("x"), &live.body()["data"]), (Some("1"), &json!({"k": "1"})));
    bed.down().await;
}

#[tokio::test]
async fn what_would_go_unforeseen_is_not_applied_and_a_stopped_run_goes_on() {
    let bed = Bed::up().await;
    let (desired, all) = created_before(&bed).await;
    let unforeseen = migrating(&bed, &desired, &all, &[]).await;
    let error = apply(&approve(unforeseen), &all, &bed.context()).await.unwrap_err();
    assert!(matches!(error, ApplyError::Stale { .. }), "{error:?}");
    assert!(error.to_string().contains("data.old"), "{error}");
    let live = bed.get(desired.reference()).await.unwrap();
    assert_eq!(live.body()["data"], json!({"k": "1", "old": "1"}), "only ownership has moved");
    // Ownership has moved: doing it again writes nothing, and the rest is done.
    let mut again = plan(&bed, &all).await;
    again.actions[0].migration = Some(Migration::default());
    again.actions[0].delta = {
        let mut expected = live.body().clone();
        expected["data"] = json!({"k": "1"});
        changes(&live, &live.with_body(expected))
    };
    bed.sink.writes();
    apply(&approve(again), &all, &bed.context()).await.unwrap();
    assert_eq!(bed.sink.writes(), ["update a"]);
    bed.down().await;
}

#[tokio::test]
async fn what_the_plan_holds_back_is_not_sent() {
    let bed = Bed::up().await;
    let object = bed.map("a", "1");
    bed.put(&object).await;
    let desired = bed.map("a", "2");
    let all = rendering(&[("shop", std::slice::from_ref(&desired))]);
    let mut plan = plan(&bed, &all).await;
    let mut body = object.body().clone();
    body["metadata"]["labels"] = json!({"x": "1"});
    plan.actions[0].sent = Some(desired.with_body(body));
    apply(&approve(plan), &all, &bed.context()).await.unwrap();
    let live = bed.get(desired.reference()).await.unwrap();
    assert_eq!((live.label("x"), &live.body()["data"]["k"]), (Some("1"), &json!("1")));
    bed.down().await;
}
