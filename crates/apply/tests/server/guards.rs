use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use windlass_apply::{ApplyError, apply};
use windlass_model::{Conflict, ExitCode, Object, Operation, Problem, Refusal};

use crate::bed::{Bed, object};
use crate::plan::{approve, plan, rendering};

/// Applies a ConfigMap by a plan that was made before `meanwhile` happened.
async fn stale(bed: &Bed, object: &Object, meanwhile: impl AsyncFn()) -> ApplyError {
    let all = rendering(&[("shop", std::slice::from_ref(object))]);
    let approved = approve(plan(bed, &all).await);
    meanwhile().await;
    let error = apply(&approved, &all, &bed.context()).await.unwrap_err();
    assert!(matches!(error, ApplyError::Stale { .. }), "{error:?}");
    assert_eq!(error.exit_code(), ExitCode::Stale);
    error
}

#[tokio::test]
async fn a_planned_creation_never_overwrites() {
    let bed = Bed::up().await;
    let object = bed.map("a", "ours");
    let theirs = bed.map("a", "theirs");
    let error = stale(&bed, &object, async || {
        bed.cluster.create(&theirs).await.unwrap();
    })
    .await;
    assert!(error.to_string().contains("appeared since the plan"), "{error}");
    assert_eq!(bed.get(object.reference()).await.unwrap().body()["data"]["k"], "theirs");
    bed.down().await;
}

#[tokio::test]
async fn even_an_equal_object_that_appeared_is_not_taken_for_ours() {
    let bed = Bed::up().await;
    let object = bed.map("a", "1");
    stale(&bed, &object, async || {
        bed.put(&object).await;
    })
    .await;
    bed.down().await;
}

#[tokio::test]
async fn a_planned_update_never_creates_nor_changes_another_object() {
    let bed = Bed::up().await;
    let object = bed.map("a", "2");
    bed.put(&bed.map("a", "1")).await;
    let error = stale(&bed, &object, async || bed.delete(object.reference()).await).await;
    assert!(error.to_string().contains("was deleted since"), "{error}");
    assert!(bed.get(object.reference()).await.is_none());

    bed.put(&bed.map("a", "1")).await;
    let again = async || {
        bed.delete(object.reference()).await;
        bed.put(&bed.map("a", "1")).await;
    };
    let error = stale(&bed, &object, again).await;
    assert!(error.to_string().contains("created again since"), "{error}");
    assert_eq!(bed.get(object.reference()).await.unwrap().body()["data"]["k"], "1");
    bed.down().await;
}

#[tokio::test]
async fn fields_are_taken_over_only_as_the_plan_showed() {
    let bed = Bed::up().await;
    // A POST leaves a manager of another operation, which conflicts like any other manager.
    bed.cluster.create(&bed.map("a", "theirs")).await.unwrap();
    let object = bed.map("a", "ours");
    let all = rendering(&[("shop", std::slice::from_ref(&object))]);
    let field =
        |field: &str| Conflict { field: field.into(), manager: "windlass".into(), ..Conflict::default() };
    let attempt = async |shown: Vec<Conflict>| {
        let mut plan = plan(&bed, &all).await;
        plan.actions[0].operation = Operation::Adopt;
        plan.actions[0].takes_over = shown;
        apply(&approve(plan), &all, &bed.context()).await
    };
    for shown in [vec![], vec![field("data.other")]] {
        let error = attempt(shown).await.unwrap_err();
        assert!(matches!(error, ApplyError::Stale { .. }), "{error}");
        assert!(error.to_string().contains("data.k is owned by windlass"), "{error}");
    }
    attempt(vec![field("data.k")]).await.unwrap();
    assert_eq!(bed.get(object.reference()).await.unwrap().body()["data"]["k"], "ours");
    bed.down().await;
}

/// Between the conflict that the plan showed and the forced request somebody takes another field: the force is for all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_somebody_takes_at_the_last_moment_is_not_taken_over() {
    let bed = Bed::up().await;
    let with = |k: &str, other: &str| {
        let mut body = bed.map("a", k).into_body();
        body["data"]["other"] = json!(other);
        object(body)
    };
    bed.cluster.create(&bed.map("a", "theirs")).await.unwrap();
    let all = rendering(&[("shop", &[with("ours", "ours")])]);
    let mut plan = plan(&bed, &all).await;
    plan.actions[0].operation = Operation::Adopt;
    let shown = Conflict { field: "data.k".into(), manager: "windlass".into(), ..Conflict::default() };
    plan.actions[0].takes_over = vec![shown];
    let (cluster, reference) = (bed.cluster.clone(), with("", "").reference().clone());
    let writes = AtomicUsize::new(0);
    bed.sink.before("a", move || {
        // The first is the attempt that meets the conflict.
        if writes.fetch_add(1, Ordering::SeqCst) != 1 {
            return;
        }
        let take = async {
            let live = cluster.get(&reference).await.unwrap().unwrap();
            let edit = json!([{"op": "add", "path": "/data/other", "value": "theirs"}]);
            cluster.patch(&live, &edit, false).await.unwrap();
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(take));
    });
    let error = apply(&approve(plan), &all, &bed.context()).await.unwrap_err();
    assert!(error.to_string().contains("data.other is owned by"), "{error}");
    assert_eq!(bed.get(with("", "").reference()).await.unwrap().body()["data"]["other"], "theirs");
    bed.down().await;
}

#[tokio::test]
async fn an_object_that_is_going_away_counts_as_a_failure() {
    let bed = Bed::up().await;
    let mut body = bed.map("a", "1").into_body();
    body["metadata"]["finalizers"] = json!(["test.windlass.dev/hold"]);
    let held = crate::bed::object(body);
    bed.put(&held).await;
    bed.delete(held.reference()).await;
    let mut body = held.body().clone();
    body["data"]["k"] = json!("2");
    let error = bed.apply(&rendering(&[("shop", &[held.with_body(body)])])).await.unwrap_err();
    assert!(error.to_string().contains("is being deleted"), "{error}");
    bed.edit(held.reference(), json!([{"op": "remove", "path": "/metadata/finalizers"}])).await;
    bed.down().await;
}

#[tokio::test]
async fn what_may_not_be_carried_out_or_does_not_belong_together_sends_nothing() {
    let bed = Bed::up().await;
    let all = rendering(&[("shop", &[bed.map("a", "1")])]);
    let other = rendering(&[("shop", &[bed.map("a", "2")])]);
    let good = plan(&bed, &all).await;
    let check = async |change: &dyn Fn(&mut windlass_model::Plan), rendering, want: &str| {
        let mut plan = good.clone();
        change(&mut plan);
        let error = apply(&approve(plan), rendering, &bed.context()).await.unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    };
    check(&|_| (), &other, "digests").await;
    check(&|plan| plan.environment = None, &all, "not for environment").await;
    check(&|plan| plan.actions.clear(), &all, "has no action").await;
    check(&|plan| plan.actions.push(plan.actions[0].clone()), &all, "two actions").await;
    check(&|plan| plan.actions[0].unit = windlass_model::UnitName::new("x").unwrap(), &all, "for unit `x`")
        .await;
    check(&|plan| plan.actions[0].operation = Operation::Update, &all, "has no uid").await;
    check(&|plan| plan.actions[0].operation = Operation::Recreate, &all, "created anew").await;
    let problem = Problem::Denied { message: "no".into() };
    check(&|plan| plan.actions[0].problem = Some(problem.clone()), &all, "denied by policy: no").await;
    let refusal = Refusal { guard: "prune-budget".into(), message: "too many".into(), hint: String::new() };
    check(&|plan| plan.refusals = vec![refusal.clone()], &all, "prune-budget: too many").await;
    assert_eq!(bed.sink.writes(), [""; 0]);
    bed.down().await;
}
