//! What differs from what was delivered.

use serde_json::Value;
use windlass_e2e::{Audit, World, manifests};

/// A world that delivered two ConfigMaps and is watched by the identity that only looks.
fn delivered() -> (World, String) {
    let mut world = World::new();
    let namespace = world.namespace("app");
    let other = manifests::config_map(&namespace, "other", &[("a", "b")]);
    world.deliver(&world.small().with("app/other.yaml", other));
    world.sign_in_as("windlass-drift");
    (world, namespace)
}

#[test]
fn a_clean_cluster_has_none_and_the_check_writes_nothing() {
    let (world, _) = delivered();
    let records = world.records();
    let mark = Audit::mark();
    world.windlass(&["drift"]).ok();
    let writes: Vec<_> =
        mark.requests(&world.suffix).into_iter().filter(windlass_e2e::Request::writes).collect();
    assert_eq!(writes, []);
    assert_eq!(world.records(), records, "drift has left a record");
    // What is merged but not yet delivered is no drift.
    world.commit(&world.small());
    world.windlass(&["drift"]).ok();
}

#[test]
fn an_edit_by_hand_is_named_with_field_manager_and_time() {
    let (mut world, namespace) = delivered();
    world.kubectl.edit("configmap", &namespace, "settings", "s/blue/red/");
    let managed = world.kubectl.field("configmap", &namespace, "settings", "/metadata/managedFields");
    let entry = managed.as_array().unwrap().iter().find(|entry| entry["manager"] == "kubectl-edit").unwrap();
    // To the minute, in whatever form the report writes the day.
    let time = &entry["time"].as_str().unwrap()[11..16];
    let folder = world.path("drift");
    let drift = world.windlass(&["drift", "--out", folder.to_str().unwrap()]);
    drift.exits(2).says("settings").says("colour").says("kubectl-edit").says(time).never_says("other");
    for file in ["drift.json", "drift.md", "drift.txt"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("settings") && text.contains("colour"), "{file}: {text}");
    }
    let json = world.windlass(&["drift", "--output", "json"]).exits(2).json();
    assert_eq!(json["outcome"], "changes", "{json:#}");
    assert!(json.to_string().contains("kubectl-edit"), "{json:#}");
    // Git is right: delivering again undoes the edit.
    world.sign_in_as("windlass-run");
    world.windlass(&["run"]).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "blue");
    world.windlass(&["drift"]).ok();
}

#[test]
fn a_deleted_object_is_named() {
    let (world, namespace) = delivered();
    world.kubectl.run(&["delete", "configmap", "other", "-n", &namespace]);
    world.windlass(&["drift"]).exits(2).says("other").never_says("settings");
}

#[test]
fn an_object_of_a_set_that_nothing_renders_is_named() {
    let (world, namespace) = delivered();
    let labels = world.kubectl.field("configmap", &namespace, "settings", "/metadata/labels");
    let label = format!(
        "applyset.kubernetes.io/part-of={}",
        labels["applyset.kubernetes.io/part-of"].as_str().unwrap()
    );
    world.kubectl.run(&["create", "configmap", "extra", "-n", &namespace]);
    world.kubectl.run(&["label", "configmap", "extra", "-n", &namespace, &label]);
    world.windlass(&["drift"]).exits(2).says("extra");
}

#[test]
fn a_field_taken_over_with_the_same_value_is_named() {
    let (world, namespace) = delivered();
    let same = manifests::config_map(&namespace, "settings", &[("colour", "blue")]);
    world.kubectl.feed(
        &["apply", "--server-side", "--force-conflicts", "--field-manager=other-tool", "-f", "-"],
        &same,
    );
    // Shared ownership is reported only when ours is gone: here both own the field.
    let first = world.windlass(&["drift"]);
    assert!([0, 2].contains(&first.code), "{first}");
    let managed = world.kubectl.field("configmap", &namespace, "settings", "/metadata/managedFields");
    let ours = |entry: &&Value| entry["manager"].as_str().unwrap_or_default().starts_with("windlass");
    assert!(managed.as_array().unwrap().iter().any(|entry| ours(&entry)), "{managed:#}");
}

#[test]
fn a_foreign_field_beside_ours_is_no_drift() {
    let (world, namespace) = delivered();
    world.kubectl.run(&[
        "annotate",
        "configmap",
        "settings",
        "-n",
        &namespace,
        "backup.example.com/last=today",
    ]);
    world.kubectl.run(&["create", "configmap", "unrelated", "-n", &namespace]);
    world.windlass(&["drift"]).ok();
}

#[test]
fn drift_before_the_first_delivery_says_that_there_is_nothing_to_compare() {
    let mut world = World::new();
    world.commit(&world.small());
    world.sign_in_as("windlass-drift");
    let drift = world.windlass(&["drift"]);
    assert_ne!(drift.code, 0, "{drift}");
    drift.says_one_of(&[
        "no completed",
        "nothing",
        "never",
        "not been delivered",
        "no delivery",
        "no commit",
    ]);
}
