//! Fields that stay because another manager owns them, and pods that use what is to go.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_plan::ObjectKey;

use crate::world::{World, config, live, member, object};

/// A member of which kubectl owns `data.a` and `data.b`, and Windlass `data.a` besides.
fn shared(data: &Value) -> Value {
    let mut body = member("shop", config("a", data));
    let theirs = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}});
    let ours = json!({"f:data": {"f:a": {}}});
    body["metadata"]["managedFields"] = json!([
        {"manager": "windlass", "operation": "Apply", "apiVersion": "v1", "fieldsV1": ours},
        {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsV1": theirs},
    ]);
    body
}

/// kubectl issue 1796: removed from Git after the adoption, `data.b` stayed and no plan told it.
#[test]
fn what_another_manager_keeps_is_told_in_every_plan() {
    let was = shared(&json!({"a": "1", "b": "2"}));
    let warning = "warning stays although the manifest does not declare it";
    let field = "data.b (kubectl-client-side-apply)";
    let check = |desired: Value, was: Value, operation: &str| {
        let mut will = shared(&json!({"a": desired["data"]["a"], "b": "2"}));
        will["metadata"]["uid"] = was["metadata"]["uid"].clone();
        let world =
            World::new().unit("shop", std::slice::from_ref(&desired)).answered(&desired, Some(was), will);
        world.check(0, &[&[operation, warning, field]]);
    };
    check(config("a", &json!({"a": "1"})), was.clone(), "no-op configmap");
    check(config("a", &json!({"a": "3"})), was, "update configmap");
    check(
        config("a", &json!({"a": "1"})),
        live(config("a", &json!({"a": "1", "b": "2"}))),
        "adopt configmap",
    );
}

#[test]
fn warnings_about_what_stays_leave_the_effect_alone() {
    let desired = config("a", &json!({"a": "1"}));
    let plan = |stored: Value| {
        let world = World::new().unit("shop", std::slice::from_ref(&desired));
        world.answered(&desired, Some(stored.clone()), stored).plan()
    };
    let (with, without) = (plan(shared(&json!({"a": "1", "b": "2"}))), plan(member("shop", desired.clone())));
    assert!(!with.actions[0].warnings.is_empty() && without.actions[0].warnings.is_empty());
    assert_eq!(with.change_digest(), without.change_digest());
}

#[test]
fn an_item_that_stays_in_a_list_is_told_when_nothing_is_written() {
    let body = |containers: Value| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"template": {"spec": {"containers": containers}}}})
    };
    let desired = body(json!([{"name": "caddy"}]));
    let stored = member("shop", body(json!([{"name": "caddy"}, {"name": "nginx"}])));
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(stored.clone()), stored)
        .check(0, &[&["no-op", "containers[name=nginx] stays besides the declared items"]]);
}

/// The pods of a revision that this commit replaces still use its ConfigMap: that is said, and keeps nothing yet.
#[test]
fn pods_that_use_what_goes_are_named_and_keep_nothing_in_the_plan() {
    let (stays, gone) = (config("a", &json!({})), config("gone", &json!({})));
    let check = |users: Result<BTreeSet<String>, String>, want: &str| {
        let mut world = World::new()
            .unit("shop", std::slice::from_ref(&stays))
            .settled("shop", &stays)
            .set("shop", &[&stays, &gone])
            .candidate(member("shop", gone.clone()));
        let digest = world.plan().change_digest();
        world.observation.users.insert(ObjectKey::from(object(gone.clone()).reference()), users);
        world.check(0, &[&["no-op"], &["prune configmap shop/gone", want]]);
        assert_eq!(world.plan().change_digest(), digest);
    };
    check(Ok(BTreeSet::from(["db-0".to_owned()])), "note: deleted once nothing uses it; now these do: db-0");
    check(Err("forbidden".into()), "warning whether something uses it could not be looked at");
}
