use serde_json::json;
use windlass_apply::ApplyError;
use windlass_model::{ApplySetError, ExitCode, Object};

use crate::bed::{Bed, object};
use crate::plan::rendering;

fn broken_service(bed: &Bed) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": bed.namespace},
        "spec": {"ports": [{"port": 0}]},
    }))
}

#[tokio::test]
async fn a_parent_is_wide_while_members_come_and_go() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("old", "1")])])).await.unwrap();
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./old"]);
    let broken = rendering(&[("shop", &[bed.map("new", "1"), broken_service(&bed)])]);
    bed.run(&broken).await.unwrap_err();
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./new", "ConfigMap./old", "Service./s"]);
    let pruned = bed.run(&rendering(&[("shop", &[bed.map("new", "1")])])).await.unwrap();
    assert_eq!(pruned.deleted, [bed.map("old", "").reference().clone()]);
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./new"]);
    assert!(bed.get(bed.map("old", "").reference()).await.is_none());
    bed.down().await;
}

#[tokio::test]
async fn what_an_interrupted_run_announced_and_never_wrote_is_forgotten() {
    let bed = Bed::up().await;
    let good = rendering(&[("shop", &[bed.map("a", "1")])]);
    bed.run(&good).await.unwrap();
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), broken_service(&bed)])])).await.unwrap_err();
    assert_eq!(bed.members("shop").await.unwrap().len(), 2);
    bed.sink.writes();
    bed.run(&good).await.unwrap();
    assert_eq!(bed.sink.writes(), [format!("update {}", bed.set("shop").parent().name)]);
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./a"]);
    bed.down().await;
}

#[tokio::test]
async fn a_unit_that_is_gone_takes_its_parent_along() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1")]), ("web", &[bed.map("w", "1")])])).await.unwrap();
    bed.run(&rendering(&[("shop", &[bed.map("a", "1")])])).await.unwrap();
    assert_eq!(bed.members("web").await, None);
    assert!(bed.get(bed.map("w", "").reference()).await.is_none());
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./a"]);
    bed.down().await;
}

#[tokio::test]
async fn an_object_moves_between_units_without_going_away() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")]), ("web", &[])])).await.unwrap();
    let uid = bed.get(bed.map("a", "").reference()).await.unwrap().uid().map(str::to_owned);
    let moved = rendering(&[("shop", &[bed.map("b", "1")]), ("web", &[bed.map("a", "1")])]);
    let pruned = bed.run(&moved).await.unwrap();
    assert!(pruned.deleted.is_empty(), "{pruned:?}");
    assert_eq!(bed.get(bed.map("a", "").reference()).await.unwrap().uid().map(str::to_owned), uid);
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./b"]);
    assert_eq!(bed.members("web").await.unwrap(), ["ConfigMap./a"]);
    bed.down().await;
}

#[tokio::test]
async fn foreign_and_tampered_parents_stop_the_run_before_it_writes() {
    let bed = Bed::up().await;
    let all = rendering(&[("infra", &[bed.map("i", "1")]), ("shop", &[bed.map("a", "1")])]);
    bed.run(&all).await.unwrap();
    let parent = bed.set("shop").parent();
    let id = "/metadata/labels/applyset.kubernetes.io~1id";
    let tooling = "/metadata/annotations/applyset.kubernetes.io~1tooling";
    let next = rendering(&[("infra", &[bed.map("i", "2")]), ("shop", &[bed.map("a", "2")])]);
    let check = async |edit: serde_json::Value, want: fn(&ApplySetError) -> bool| {
        bed.edit(&parent, json!([edit])).await;
        bed.sink.writes();
        let error = bed.apply(&next).await.unwrap_err();
        assert!(matches!(&error, ApplyError::Set { source, .. } if want(source)), "{error:?}");
        assert_eq!(error.exit_code(), ExitCode::Refused);
        assert_eq!(bed.sink.writes(), [""; 0]);
    };
    check(json!({"op": "replace", "path": tooling, "value": "kubectl/v1.36.3"}), |error| {
        matches!(error, ApplySetError::Tooling { .. })
    })
    .await;
    bed.edit(&parent, json!([{"op": "replace", "path": tooling, "value": "windlass/0.0.0"}])).await;
    // Without its label the parent is not listed; it is there all the same.
    check(json!({"op": "remove", "path": id}), |error| matches!(error, ApplySetError::Id { .. })).await;
    bed.down().await;
}

#[tokio::test]
async fn annotations_that_someone_edited_are_set_again() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1")])])).await.unwrap();
    let kinds = "/metadata/annotations/applyset.kubernetes.io~1contains-group-kinds";
    bed.edit(
        &bed.set("shop").parent(),
        json!([{"op": "replace", "path": kinds, "value": "ConfigMap,Secret"}]),
    )
    .await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])])).await.unwrap();
    let parent = bed.get(&bed.set("shop").parent()).await.unwrap();
    assert_eq!(parent.annotation("applyset.kubernetes.io/contains-group-kinds"), Some("ConfigMap"));
    assert_eq!(bed.members("shop").await.unwrap().len(), 2);
    assert!(bed.sink.text().contains("was edited by something else"));
    bed.down().await;
}

#[tokio::test]
async fn a_missing_record_namespace_is_said_plainly() {
    let bed = Bed::up().await;
    let all = rendering(&[("shop", &[bed.map("a", "1")])]);
    let approved = crate::plan::approve(crate::plan::plan(&bed, &all).await);
    let context = windlass_apply::Context { record_namespace: "no-such-namespace", ..bed.context() };
    let error = windlass_apply::apply(&approved, &all, &context).await.unwrap_err();
    assert!(error.to_string().contains("`no-such-namespace` does not exist"), "{error}");
    assert!(error.hint().contains("pipeline/rbac"), "{}", error.hint());
    bed.down().await;
}
