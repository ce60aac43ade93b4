//! Definitions that change under live objects.

use serde_json::{Value, json};
use windlass_cluster::Silence;
use windlass_model::GroupKind;
use windlass_plan::ObjectKey;

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

/// The server moves the storage version back without a word.
#[test]
fn a_storage_version_is_not_moved_unseen() {
    let two = |stored: usize| {
        let mut body = definition(&sizes(9));
        let mut second = body["spec"]["versions"][0].clone();
        second["name"] = "v2".into();
        body["spec"]["versions"].as_array_mut().unwrap().push(second);
        for (index, version) in body["spec"]["versions"].as_array_mut().unwrap().iter_mut().enumerate() {
            version["storage"] = (index == stored).into();
        }
        body
    };
    let check = |new: usize, want: Option<&str>| {
        let mut world = changing(&two(new), Ok(vec![foo("a", 1)]));
        world = world.answered(&two(new), Some(member("shop", two(1))), member("shop", two(new)));
        let warnings = world.plan().warnings;
        let told = warnings.iter().find(|warning| warning.contains("store its objects"));
        assert_eq!(told.is_some(), want.is_some(), "{warnings:?}");
        assert!(told.zip(want).is_none_or(|(told, want)| told.contains(want)), "{warnings:?}");
    };
    check(
        0,
        Some("`foos.ex.io` would store its objects in `v1` instead of `v2`, each from its next write on"),
    );
    check(1, None);
}

/// A definition of two versions between which the Service `shop/hook` converts.
fn converted() -> Value {
    let mut body = definition(&sizes(9));
    let mut second = body["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    body["spec"]["versions"].as_array_mut().unwrap().push(second);
    body["spec"]["conversion"] = json!({"strategy": "Webhook",
        "webhook": {"clientConfig": {"service": {"namespace": "shop", "name": "hook"}}}});
    body
}

/// The commit was planned as good, and then no object could be read or written any more.
#[test]
fn a_conversion_webhook_that_cannot_answer_yet() {
    let mut service = named("v1", "Service", Some("shop"), "hook");
    service["spec"] = json!({"selector": {"app": "hook"}});
    let mut pods = named("apps/v1", "Deployment", Some("shop"), "hook");
    pods["spec"] = json!({"template": {"metadata": {"labels": {"app": "hook"}}}});
    let none: &[&Value] = &[];
    let objects = || vec![foo("a", 1)];
    let check =
        |new: &Value, objects, silence: Option<Silence>, units: [&[&Value]; 2], want: Option<&str>| {
            let mut world = changing(new, Ok(objects));
            let [first, same] =
                units.map(|bodies| bodies.iter().map(|body| (*body).clone()).collect::<Vec<_>>());
            for other in first.iter().chain(&same) {
                world = world.answered(other, None, live(other.clone()));
            }
            world.units[0].objects.extend(same.into_iter().map(object));
            world = world.unit("first", &first);
            world.units.rotate_right(1);
            let key = ObjectKey::from(object(service.clone()).reference());
            world.observation.silent_converters.extend(silence.map(|silence| (key, silence)));
            let refusals = world.plan().refusals;
            let told: Vec<(&str, &str)> =
                refusals.iter().map(|refusal| (refusal.guard.as_str(), refusal.message.as_str())).collect();
            match want {
                None => assert!(told.is_empty(), "{told:?}"),
                Some(want) => assert!(
                    matches!(told.as_slice(), [("definition-conversion", message)] if message.contains(want)),
                    "{told:?}"
                ),
            }
        };
    let new = converted();
    let (missing, unready) = (Some(Silence::Missing), Some(Silence::Unready));
    check(&new, objects(), missing, [none, none], Some("Service shop/hook, which does not exist: "));
    check(&new, objects(), missing, [none, none], Some("1 exist: Foo.ex.io shop/a"));
    check(&new, objects(), unready, [none, none], Some("which has no ready endpoint: "));
    check(&new, objects(), None, [none, none], None);
    // Without objects, an operator comes in one unit with its definition.
    check(&new, Vec::new(), missing, [none, &[&service, &pods]], None);
    // With objects, what converts them is there before the unit begins.
    check(&new, objects(), missing, [none, &[&service, &pods]], Some("so far (the unit `shop` delivers it)"));
    check(&new, objects(), missing, [&[&service], &[&pods]], Some("so far (the unit `first` delivers it)"));
    check(&new, objects(), missing, [&[&service, &pods], none], None);
    check(&new, objects(), unready, [&[&pods], &[&service]], None);
    check(&new, objects(), unready, [none, &[&service, &pods]], Some("which has no ready endpoint: "));
    // An address is asked by nobody before the definition is written.
    let mut at = converted();
    at["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": "https://hook.example/convert"});
    check(&at, objects(), None, [none, none], None);
    let told = |objects| {
        let warnings = changing(&at, Ok(objects)).plan().warnings;
        warnings.iter().any(|warning| {
            warning.contains("converted by https://hook.example/convert, which is not tried out")
        })
    };
    assert!(told(objects()) && !told(Vec::new()));
    // One version needs no conversion.
    let mut single = converted();
    single["spec"]["versions"].as_array_mut().unwrap().pop();
    check(&single, objects(), missing, [none, none], None);
}
