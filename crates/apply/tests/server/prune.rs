use std::time::Duration;

use serde_json::json;
use windlass_apply::{ApplyError, Pruned, apply, prune, prune_within};
use windlass_model::{Object, ObjectRef, PART_OF};

use crate::bed::{Bed, object};
use crate::definitions::{definition, widget};
use crate::plan::{approve, plan, rendering};

/// Delivers `old` beside another object, then prunes it by a plan that was made before `meanwhile` happened.
async fn pruned(bed: &Bed, old: &Object, meanwhile: impl AsyncFn(&ObjectRef)) -> Pruned {
    let stays = bed.map("stays", "1");
    bed.run(&rendering(&[("shop", &[stays.clone(), old.clone()])])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let approved = approve(plan(bed, &next).await);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    meanwhile(old.reference()).await;
    prune(&applied, &approved, &next, &bed.context()).await.unwrap()
}

#[tokio::test]
async fn evidence_is_looked_at_again_when_deleting() {
    let bed = Bed::up().await;
    let label = format!("/metadata/labels/{}", PART_OF.replace('/', "~1"));
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "11111111-1111-1111-1111-111111111111"}]);
    let check = async |name: &str, edit: serde_json::Value, reason: &str, member: bool| {
        let old = bed.map(name, "1");
        let pruned = pruned(&bed, &old, async |object| bed.edit(object, json!([edit])).await).await;
        assert!(pruned.deleted.is_empty() && pruned.kept[0].reason.contains(reason), "{pruned:?}");
        assert!(bed.get(old.reference()).await.is_some());
        let entry = format!("ConfigMap./{name}");
        assert_eq!(bed.members("shop").await.unwrap().contains(&entry), member, "{name} in the inventory");
    };
    check("unlabelled", json!({"op": "remove", "path": label}), "label", false).await;
    check("relabelled", json!({"op": "replace", "path": label, "value": "applyset-x-v1"}), "label", false)
        .await;
    check(
        "disowned",
        json!({"op": "replace", "path": "/metadata/managedFields", "value": [{}]}),
        "owns no field",
        true,
    )
    .await;
    // Last, since the garbage collector takes an object whose owner does not exist.
    let old = bed.map("owned", "1");
    let add = json!({"op": "add", "path": "/metadata/ownerReferences", "value": owner});
    let pruned = pruned(&bed, &old, async |object| bed.edit(object, json!([add])).await).await;
    assert!(!pruned.deleted.contains(old.reference()), "{pruned:?}");
    bed.down().await;
}

/// The plan had looked long before: the rollouts come between.
#[tokio::test]
async fn a_definition_stays_with_what_was_made_of_it_since_the_plan() {
    let bed = Bed::up().await;
    let old = definition(&bed);
    let made = widget(&bed, "since", &json!({"size": 1}));
    let pruned = pruned(&bed, &old, async |_| drop(bed.put(&made).await)).await;
    assert!(pruned.deleted.is_empty() && pruned.kept[0].reason.contains("/since"), "{pruned:?}");
    assert!(bed.get(made.reference()).await.is_some());
    let entry = old.reference().inventory_entry();
    assert!(bed.members("shop").await.unwrap().contains(&entry), "a later run finds it again");
    // Once nothing is left of it, it goes.
    bed.delete(made.reference()).await;
    let next = rendering(&[("shop", &[bed.map("stays", "1")])]);
    assert_eq!(bed.run(&next).await.unwrap().deleted, [old.reference().clone()]);
    bed.down().await;
}

/// The commit that removes an object also stops serving the version in which the plan had seen it: that was taken for
/// absence, and the object stayed for ever, in no set.
#[tokio::test]
async fn an_object_goes_although_its_version_is_not_served_any_more() {
    let bed = Bed::up().await;
    let with_versions = |versions: &[&str]| {
        let mut body = definition(&bed).into_body();
        let first = body["spec"]["versions"][0].clone();
        let version = |name: &&str| {
            let mut version = first.clone();
            (version["name"], version["storage"]) = (json!(name), json!(*name == "v1"));
            version
        };
        body["spec"]["versions"] = versions.iter().map(version).collect();
        object(body)
    };
    let (both, one) = (with_versions(&["v1", "v2"]), with_versions(&["v1"]));
    let old = widget(&bed, "old", &json!({"size": 1}));
    bed.run(&rendering(&[("shop", &[both.clone(), old.clone()])])).await.unwrap();
    let next = rendering(&[("shop", std::slice::from_ref(&both))]);
    let mut plan = plan(&bed, &next).await;
    let prune_of_it = plan.actions.iter_mut().find(|action| action.object.kind.kind == "Widget").unwrap();
    prune_of_it.object.version = "v2".into();
    let approved = approve(plan);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    bed.put(&one).await;
    bed.cluster.forget_discovery().await;
    let pruned = prune(&applied, &approved, &next, &bed.context()).await.unwrap();
    assert_eq!((pruned.deleted.len(), pruned.absent.len()), (1, 0), "{pruned:?}");
    assert!(bed.get(old.reference()).await.is_none());
    bed.delete(one.reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn an_object_that_changed_since_the_plan_is_read_again() {
    let bed = Bed::up().await;
    let change = json!([{"op": "add", "path": "/data/more", "value": "x"}]);
    let old = bed.map("old", "1");
    let pruned = pruned(&bed, &old, async |object| bed.edit(object, change.clone()).await).await;
    assert_eq!(pruned.deleted, [old.reference().clone()]);
    bed.down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_changes_after_its_evidence_was_read_is_judged_again() {
    let bed = Bed::up().await;
    let (old, stays) = (bed.map("old", "1"), bed.map("stays", "1"));
    bed.run(&rendering(&[("shop", &[stays.clone(), old.clone()])])).await.unwrap();
    let (cluster, reference) = (bed.cluster.clone(), old.reference().clone());
    // At the last moment, when the deletion is announced, someone takes the object over.
    bed.sink.before("old", move || {
        let take_over = async {
            let live = cluster.get(&reference).await.unwrap().unwrap();
            let label = format!("/metadata/labels/{}", PART_OF.replace('/', "~1"));
            let edit = json!([{"op": "replace", "path": label, "value": "applyset-theirs-v1"}]);
            cluster.patch(&live, &edit, false).await.unwrap();
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(take_over));
    });
    bed.sink.writes();
    let pruned = bed.run(&rendering(&[("shop", &[stays])])).await.unwrap();
    assert_eq!(bed.sink.writes()[0], "delete old", "the deletion was sent, and refused");
    assert_eq!(pruned.kept[0].object, *old.reference());
    assert!(bed.get(old.reference()).await.is_some());
    bed.down().await;
}

#[tokio::test]
async fn gone_and_replaced_objects_are_no_errors() {
    let bed = Bed::up().await;
    let old = bed.map("gone", "1");
    let result = pruned(&bed, &old, async |object| bed.delete(object).await).await;
    assert_eq!(result.absent, [old.reference().clone()]);
    let old = bed.map("replaced", "1");
    let result = pruned(&bed, &old, async |object| {
        bed.delete(object).await;
        bed.put(&bed.map("replaced", "theirs")).await;
    })
    .await;
    assert_eq!(result.replaced, [old.reference().clone()]);
    assert!(bed.get(old.reference()).await.is_some());
    bed.down().await;
}

#[tokio::test]
async fn a_copied_label_is_no_evidence() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1")])])).await.unwrap();
    let mut copy = bed.map("copy", "1");
    copy.set_label(PART_OF, &bed.set("shop").id());
    bed.put(&copy).await;
    let pruned = bed.run(&rendering(&[("shop", &[bed.map("a", "1")])])).await.unwrap();
    assert!(pruned.kept[0].reason.contains("does not list it"), "{pruned:?}");
    assert!(bed.get(copy.reference()).await.is_some());
    bed.down().await;
}

#[tokio::test]
async fn a_definition_goes_only_after_its_resources_are_gone() {
    let bed = Bed::up().await;
    let definition = definition(&bed);
    let mut body = widget(&bed, "w", &json!({"size": 1})).into_body();
    body["metadata"]["finalizers"] = json!(["test.windlass.dev/hold"]);
    let held = crate::bed::object(body);
    bed.run(&rendering(&[("infra", &[definition.clone(), held.clone()])])).await.unwrap();
    bed.sink.writes();
    let operator = async {
        // The operator clears up after a while, and finds its definition still there.
        while !bed.get(held.reference()).await.is_some_and(|live| live.is_terminating()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let there = bed.get(definition.reference()).await.is_some_and(|live| !live.is_terminating());
        bed.edit(held.reference(), json!([{"op": "remove", "path": "/metadata/finalizers"}])).await;
        there
    };
    let empty = rendering(&[]);
    let (pruned, definition_was_there) = tokio::join!(bed.run(&empty), operator);
    assert!(definition_was_there);
    assert!(pruned.unwrap().is_complete());
    let parent = format!("delete {}", bed.set("infra").parent().name);
    assert_eq!(
        bed.sink.writes(),
        ["delete w".into(), format!("delete {}", definition.reference().name), parent]
    );
    bed.down().await;
}

#[tokio::test]
async fn an_operator_outlives_resources_that_will_not_go() {
    let bed = Bed::up().await;
    let (definition, stays) = (definition(&bed), bed.map("stays", "1"));
    let mut body = widget(&bed, "w", &json!({"size": 1})).into_body();
    body["metadata"]["finalizers"] = json!(["test.windlass.dev/hold"]);
    let held = crate::bed::object(body);
    let operator = bed.map("operator", "1");
    let all = [stays.clone(), definition.clone(), held.clone(), operator.clone()];
    bed.run(&rendering(&[("infra", &all)])).await.unwrap();
    let next = rendering(&[("infra", std::slice::from_ref(&stays))]);
    let approved = approve(plan(&bed, &next).await);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    let limit = Duration::from_millis(200);
    let pruned = prune_within(limit, &applied, &approved, &next, &bed.context()).await.unwrap();
    assert!(!pruned.is_complete());
    assert_eq!(pruned.terminating, [held.reference().clone()]);
    assert_eq!(pruned.postponed, [operator.reference().clone(), definition.reference().clone()]);
    for object in [&operator, &definition] {
        assert!(bed.get(object.reference()).await.is_some_and(|live| !live.is_terminating()));
    }
    assert_eq!(bed.members("infra").await.unwrap().len(), 4, "what is still there stays in the set");
    // The next run deletes nothing of the resource, and its operator is still needed.
    let approved = approve(plan(&bed, &next).await);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    let pruned = prune_within(limit, &applied, &approved, &next, &bed.context()).await.unwrap();
    assert_eq!(pruned.terminating, [held.reference().clone()]);
    assert_eq!(pruned.postponed, [operator.reference().clone(), definition.reference().clone()]);
    bed.edit(held.reference(), json!([{"op": "remove", "path": "/metadata/finalizers"}])).await;
    // A definition takes a while to go, so this one waits as long as a delivery does.
    assert!(bed.run(&next).await.unwrap().is_complete());
    assert_eq!(bed.members("infra").await.unwrap(), ["ConfigMap./stays"]);
    bed.down().await;
}

/// Its kind has no place of its own in the order of applying, but no operator clears up after it.
#[tokio::test]
async fn a_built_in_object_that_will_not_go_holds_nothing_back() {
    let bed = Bed::up().await;
    let (stays, old) = (bed.map("stays", "1"), bed.map("old", "1"));
    let held = crate::bed::object(json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": "web", "namespace": bed.namespace, "finalizers": ["test.windlass.dev/hold"]},
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
    }));
    bed.run(&rendering(&[("shop", &[stays.clone(), old.clone(), held.clone()])])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let approved = approve(plan(&bed, &next).await);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    let limit = Duration::from_millis(200);
    let pruned = prune_within(limit, &applied, &approved, &next, &bed.context()).await.unwrap();
    assert_eq!(pruned.deleted, [held.reference().clone(), old.reference().clone()]);
    assert_eq!((pruned.terminating.len(), pruned.postponed.len()), (1, 0), "{pruned:?}");
    bed.edit(held.reference(), json!([{"op": "remove", "path": "/metadata/finalizers"}])).await;
    bed.down().await;
}

#[tokio::test]
async fn a_stopped_prune_leaves_the_set_wide_and_the_next_run_goes_on() {
    let bed = Bed::up().await;
    let (old, stays) = ([bed.map("a", "1"), bed.map("b", "1")], bed.map("stays", "1"));
    bed.run(&rendering(&[("shop", &[stays.clone(), old[0].clone(), old[1].clone()])])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let stop = bed.stop.clone();
    bed.sink.before("b", move || stop.cancel());
    let error = bed.run(&next).await.unwrap_err();
    assert!(matches!(&error, ApplyError::Interrupted { touched } if touched.len() == 1), "{error:?}");
    assert_eq!(bed.members("shop").await.unwrap().len(), 3);
    let mut bed = bed;
    bed.stop = tokio_util::sync::CancellationToken::new();
    bed.sink = crate::bed::Recorder::default();
    assert_eq!(bed.run(&next).await.unwrap().deleted, [old[1].reference().clone()]);
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./stays"]);
    bed.down().await;
}

#[tokio::test]
async fn another_plan_than_the_applied_one_prunes_nothing() {
    let bed = Bed::up().await;
    let first = rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])]);
    let applied = bed.apply(&first).await.unwrap();
    let next = rendering(&[("shop", &[bed.map("a", "1")])]);
    let approved = approve(plan(&bed, &next).await);
    let error = prune(&applied, &approved, &next, &bed.context()).await.unwrap_err();
    assert!(matches!(error, ApplyError::Mismatch { .. }), "{error}");
    bed.down().await;
}
