//! Definitions that change under live objects.

use serde_json::{Value, json};
use windlass_model::GroupKind;

use crate::world::{World, live, member, named, object};

fn definition(spec: &Value) -> Value {
    let mut body = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "foos.ex.io");
    body["spec"] = json!({"group": "ex.io", "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": spec}}}}]});
    body
}

fn foo(name: &str, size: u32) -> Value {
    let mut body = live(named("ex.io/v1", "Foo", Some("shop"), name));
    body["spec"] = json!({"size": size});
    body
}

fn sizes(most: u32) -> Value {
    json!({"type": "object", "properties": {"size": {"type": "integer", "maximum": most}}})
}

/// A world in which the definition changes to this one while these objects exist.
fn changing(new: &Value, objects: Result<Vec<Value>, String>) -> World {
    let mut world = World::new().unit("shop", std::slice::from_ref(new)).answered(
        new,
        Some(member("shop", definition(&sizes(9)))),
        member("shop", new.clone()),
    );
    let objects = objects.map(|objects| objects.into_iter().map(object).collect());
    world.observation.customs.insert(GroupKind::new("ex.io", "Foo"), objects);
    world
}

#[test]
fn a_narrower_schema_tells_how_many_objects_do_not_fit() {
    let all: Vec<Value> = (1..=9).map(|size| foo(&format!("f{size}"), size)).collect();
    changing(&definition(&sizes(2)), Ok(all.clone())).check(
        4,
        &[
            &["update custom"],
            &["definition-narrowing", "7 of the 9", "shop/f3: spec.size: must be at most 2", "and 2 more"],
        ],
    );
    changing(&definition(&sizes(10)), Ok(all)).check(0, &[&["update custom"]]);
}

#[test]
fn objects_that_go_anyway_need_not_fit() {
    let old = member("shop", foo("old", 5));
    changing(&definition(&sizes(2)), Ok(vec![old.clone()]))
        .set("shop", &[&old])
        .candidate(old)
        .allow("Foo.ex.io", Some("shop"), "old", "2026-12-31")
        .check(0, &[&["update custom"], &["prune foo"]]);
}

#[test]
fn objects_that_cannot_be_listed_cannot_be_checked() {
    changing(&definition(&sizes(10)), Err("conversion webhook for x failed".into()))
        .check(4, &[&["update custom"], &["definition-unlisted", "conversion webhook for x failed"]]);
}

#[test]
fn a_rule_that_cannot_be_checked_is_a_warning() {
    let mut new = sizes(9);
    new["properties"]["size"]["x-kubernetes-validations"] = json!([{"rule": "[self].sum() > 0"}]);
    let world = changing(&definition(&new), Ok(vec![foo("a", 2)]));
    world.check(0, &[&["update custom"]]);
    let warnings = world.plan().warnings.join("\n");
    assert!(
        warnings.contains("`foos.ex.io`") && warnings.contains("spec.size: rule not checked locally"),
        "{warnings}"
    );
}
