//! Objects whose namespace or kind comes with the same commit.

use serde_json::{Value, json};
use windlass_plan::{Ask, Outcome, Reply, Trial};

use crate::world::{World, config, failure, live, member, named};

fn no_namespace() -> windlass_cluster::Failure {
    let body = json!({"kind": "Status", "reason": "NotFound", "message": "namespaces \"shop\" not found",
        "details": {"kind": "namespaces"}});
    windlass_cluster::Failure::parse(404, body.to_string().as_bytes(), None)
}

fn definition(served: &str) -> Value {
    let mut body = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "foos.ex.io");
    body["spec"] = json!({"group": "ex.io", "names": {"kind": "Foo"},
        "versions": [{"name": served, "served": true}]});
    body
}

/// kubernetes issue 114141: the whole diff died.
#[test]
fn a_namespace_of_the_same_commit() {
    let (object, namespace) = (config("a", &json!({})), named("v1", "Namespace", None, "shop"));
    let world = |units: [&[Value]; 2]| {
        let mut world = World::new();
        for (name, objects) in ["one", "two"].iter().zip(units) {
            world = world.unit(name, objects);
        }
        world.refused(&object, None, no_namespace()).answered(&namespace, None, live(namespace.clone()))
    };
    world([&[object.clone(), namespace.clone()], &[]]).check(
        0,
        &[&["create namespace shop"], &["create configmap", "[locally: the namespace `shop` is created"]],
    );
    world([std::slice::from_ref(&object), std::slice::from_ref(&namespace)])
        .check(4, &[&["problem the namespace `shop` comes with the unit `two`"], &["create namespace"]]);
    world([std::slice::from_ref(&object), &[]]).check(4, &[&["problem the namespace `shop` does not exist"]]);
}

/// What the stand-in namespace says counts as far as it is about the object.
#[test]
fn an_object_is_tried_out_where_its_namespace_does_not_exist_yet() {
    let (object, namespace) = (config("a", &json!({})), named("v1", "Namespace", None, "shop"));
    let check = |trial: Trial, exit, want: &[&str]| {
        World::new()
            .unit("shop", &[namespace.clone(), object.clone()])
            .answered(&namespace, None, live(namespace.clone()))
            .asked(None, &[], Ask::NamespaceMissing(trial), &object)
            .check(exit, &[&["create namespace shop"], want]);
    };
    let made = |outcome| Trial::Made { stand_in: "windlass-system".into(), outcome };
    let created = "create configmap shop/a in shop [routine] [locally: the namespace `shop` is created by the same commit; ";
    let told = &format!("{created}tried out in `windlass-system`, whose labels and limits may differ]");
    let security = "would violate PodSecurity \"restricted:latest\"";
    let warnings = vec!["v1 is deprecated".to_owned(), security.to_owned()];
    let reply = Reply { object: crate::world::object(object.clone()), warnings };
    check(
        made(Outcome::Accepted(reply)),
        0,
        &[told, "warning v1 is deprecated", &format!("warning in `windlass-system`: {security}")],
    );
    let refused = |everywhere| {
        let causes =
            json!([{"reason": "FieldValueInvalid", "field": "data[k]", "message": "Invalid value: no"}]);
        made(Outcome::Refused { failure: failure(422, "Invalid", "x is invalid", &causes), everywhere })
    };
    check(refused(true), 65, &[told, "problem invalid: data[k]: Invalid value: no"]);
    check(
        refused(false),
        0,
        &[
            told,
            "warning in `windlass-system` it would be refused, which may or may not hold in its own namespace: invalid",
        ],
    );
    let reason = "not tried out: the quota is used up]";
    check(Trial::Not("the quota is used up".into()), 0, &[created, reason]);
    check(
        Trial::Alike("x".into()),
        0,
        &[created, "an object of the same kind and shape was tried out in `x`"],
    );
}

/// The old definition refuses the new field in the stand-in namespace, too.
#[test]
fn a_trial_is_judged_by_the_definition_of_the_same_commit() {
    let (object, namespace) =
        (named("ex.io/v1", "Foo", Some("shop"), "a"), named("v1", "Namespace", None, "shop"));
    let schema = "failed to create typed patch object (a; v1): .spec.new: field not declared in schema";
    let check = |was: &Value, exit, want: &[&str]| {
        let outcome = Outcome::Refused { failure: failure(500, "", schema, &json!([])), everywhere: true };
        let trial = Trial::Made { stand_in: "default".into(), outcome };
        World::new()
            .unit("shop", &[definition("v1"), namespace.clone(), object.clone()])
            .answered(&namespace, None, live(namespace.clone()))
            .asked(None, &[], Ask::NamespaceMissing(trial), &object)
            .answered(&definition("v1"), Some(member("shop", was.clone())), member("shop", definition("v1")))
            .check(exit, &[&[], &["create namespace"], want]);
    };
    check(&definition("v0"), 0, &["create foo", "[locally: the definition of `foo.ex.io` changes"]);
    check(&definition("v1"), 65, &["create foo", "problem invalid: .spec.new"]);
}

/// kubectl issues 1117 and 1179.
#[test]
fn a_kind_of_the_same_commit() {
    let object = named("ex.io/v1", "Foo", Some("shop"), "a");
    let check = |definition: Value, exit, want: &[&[&str]]| {
        World::new()
            .unit("shop", &[object.clone(), definition.clone()])
            .asked(None, &[], Ask::NotServed { stale: false }, &object)
            .answered(&definition, None, live(definition.clone()))
            .check(exit, want);
    };
    check(
        definition("v1"),
        0,
        &[&["create customresourcedefinition"], &["create foo.ex.io", "[locally: the kind"]],
    );
    check(definition("v2"), 65, &[&["create custom"], &["does not serve version `v1`"]]);
    let unknown = |stale| {
        World::new().unit("shop", std::slice::from_ref(&object)).asked(
            None,
            &[],
            Ask::NotServed { stale },
            &object,
        )
    };
    unknown(false).check(65, &[&["problem invalid: the cluster does not know the kind `Foo.ex.io`"]]);
    unknown(true).check(4, &[&["API service of its group does not answer"]]);
}

/// The dry-run judges by the old schema and refuses the new field.
#[test]
fn a_definition_that_changes_makes_answers_provisional() {
    let object = named("ex.io/v1", "Foo", Some("shop"), "a");
    let schema = failure(
        500,
        "",
        "failed to create typed patch object (a; v1): .spec.new: field not declared in schema",
        &json!([]),
    );
    let world = |was: &Value| {
        World::new()
            .unit("shop", &[object.clone(), definition("v1")])
            .refused(&object, Some(member("shop", object.clone())), schema.clone())
            .answered(&definition("v1"), Some(member("shop", was.clone())), member("shop", definition("v1")))
    };
    world(&definition("v0"))
        .check(0, &[&["update customresource"], &["update foo", "[locally: the definition"]]);
    world(&definition("v1")).check(65, &[&["no-op customresource"], &["problem invalid"]]);
}

#[test]
fn a_namespace_that_is_being_deleted_says_what_keeps_it() {
    let object = config("a", &json!({}));
    let causes = json!([{"reason": "NamespaceTerminating", "message": "x", "field": "metadata.namespace"}]);
    let mut world = World::new().unit("shop", std::slice::from_ref(&object)).refused(
        &object,
        None,
        failure(403, "Forbidden", "x", &causes),
    );
    let mut namespace = live(named("v1", "Namespace", None, "shop"));
    namespace["metadata"]["deletionTimestamp"] = "2026-06-14T00:00:00Z".into();
    namespace["status"] =
        json!({"conditions": [{"status": "True", "message": "Some content remains: foos.ex.io"}]});
    world.observation.namespaces.insert("shop".into(), crate::world::object(namespace));
    world.check(4, &[&["the namespace `shop` is being deleted since", "Some content remains: foos.ex.io"]]);
}
