//! Fields that others own: taken, left, refused, moved, ignored.

use serde_json::{Value, json};
use windlass_e2e::{Files, World, manifests};

/// Says who wins over the colour of the settings where `oncall` owns it.
fn rule(world: &mut World, then: &str) {
    let rule = json!({"field": "data.colour", "manager": "oncall", "kinds": ["ConfigMap"], "then": then});
    world.configure(|settings| settings["ownership"] = json!({"conflicts": [rule]}));
}

/// A world whose settings were changed by another manager after the delivery.
fn changed_by_oncall() -> (World, String) {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let theirs = manifests::config_map(&namespace, "settings", &[("colour", "red")]);
    world
        .kubectl
        .feed(&["apply", "--server-side", "--force-conflicts", "--field-manager=oncall", "-f", "-"], &theirs);
    (world, namespace)
}

fn colour(world: &World, namespace: &str) -> Value {
    world.kubectl.field("configmap", namespace, "settings", "/data/colour")
}

#[test]
fn a_field_that_a_rule_leaves_keeps_its_value_and_is_no_drift() {
    let (mut world, namespace) = changed_by_oncall();
    rule(&mut world, "leave");
    world.windlass(&["drift"]).ok();
    let settings = manifests::config_map(&namespace, "settings", &[("colour", "blue"), ("size", "2")]);
    world.deliver(&world.small().with("app/settings.yaml", settings));
    assert_eq!(colour(&world, &namespace), "red");
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/size"), "2");
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
    // A new object has no other owner yet: it gets the field.
    world.kubectl.run(&["delete", "configmap", "settings", "-n", &namespace]);
    world.windlass(&["run"]).ok();
    assert_eq!(colour(&world, &namespace), "blue");
}

#[test]
fn a_field_that_a_rule_takes_is_shown_and_taken() {
    let (mut world, namespace) = changed_by_oncall();
    rule(&mut world, "take");
    world.windlass(&["plan"]).ok().says("colour").says("oncall");
    world.windlass(&["run"]).ok();
    assert_eq!(colour(&world, &namespace), "blue");
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
}

#[test]
fn a_field_that_a_rule_protects_is_refused_with_owner_and_time() {
    let (mut world, namespace) = changed_by_oncall();
    rule(&mut world, "fail");
    world.windlass(&["plan"]).refuses(
        4,
        &[
            "data.colour is owned by oncall (Apply), which last wrote this object less than a minute ago (2",
            "ownership.conflicts",
        ],
    );
    world.windlass(&["run"]).refuses(4, &["data.colour"]);
    assert_eq!(colour(&world, &namespace), "red");
}

/// Files of which a first version was applied on the client's side, with more fields than the delivered ones.
fn applied_before(world: &World) -> (String, Files) {
    let namespace = world.namespace("app");
    let more = manifests::config_map(&namespace, "settings", &[("colour", "blue"), ("forgotten", "1")]);
    for text in [manifests::namespace(&namespace), more] {
        world.kubectl.feed(&["apply", "-f", "-"], &text);
    }
    (namespace, world.small())
}

/// kubectl issue 1796: what client-side apply owned stayed for ever.
#[test]
fn fields_of_a_client_side_apply_go_as_approved() {
    let mut world = World::new();
    world.configure(|settings| settings["approval"]["required"] = json!("always"));
    let (namespace, files) = applied_before(&world);
    world.commit(&files);
    let plan = world.plan_and_approve("alice").to_string();
    for part in ["data.forgotten", "\"migration\"", "kubectl-client-side-apply"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    world.windlass(&["run"]).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data"), json!({"colour": "blue"}));
    assert_eq!(world.journalled("\"migrate\""), 4, "two objects, each sent and answered");
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
    world.windlass(&["drift"]).ok();
}

#[test]
fn an_ignored_difference_is_counted_until_its_day() {
    let world = World::new();
    let namespace = world.namespace("app");
    let rules = |until: &str| {
        let units = manifests::units(&[("base", "base", ""), ("app", "app", "base")]);
        let rule = "kind: ConfigMap, name: '*/settings', field: data.colour, reason: being tried out";
        world.small().with("windlass.yaml", format!("{units}ignore:\n  - {{{rule}, until: {until}}}\n"))
    };
    world.deliver(&rules("2999-12-31"));
    world.kubectl.edit("configmap", &namespace, "settings", "s/blue/red/");
    world.windlass(&["drift"]).ok().says("1 ignored difference");
    let plan = world.windlass(&["plan", "--output", "json"]).ok().json().to_string();
    assert!(plan.contains("being tried out"), "{plan}");
    world.windlass(&["run"]).ok();
    assert_eq!(colour(&world, &namespace), "red");
    world.commit(&rules("2020-01-01"));
    world.windlass(&["plan", "--detailed-exitcode"]).exits(2).says("colour").says("expired");
    world.windlass(&["run"]).ok();
    assert_eq!(colour(&world, &namespace), "blue");
}
