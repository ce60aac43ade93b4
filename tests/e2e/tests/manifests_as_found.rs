//! Manifests as people have them: written for another tool, or taken from a cluster.

use serde_json::json;
use windlass_e2e::{World, manifests};

/// kubernetes issues 108008 and 123843: a key that is dropped from `stringData` stays for ever.
#[test]
fn a_dropped_key_of_a_secret_in_plain_text_goes() {
    let world = World::new();
    let namespace = world.namespace("app");
    let secret = |data: &[(&str, &str)]| {
        world.small().with("app/secret.yaml", manifests::secret(&namespace, "login", data))
    };
    world.deliver(&secret(&[("user", "x"), ("password", "y")]));
    world.deliver(&secret(&[("password", "y")]));
    assert_eq!(world.kubectl.field("secret", &namespace, "login", "/data"), json!({"password": "eQ=="}));
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
}

/// Its uid is a condition that no object meets once it was made anew.
#[test]
fn an_object_that_was_exported_from_a_cluster_is_delivered_like_any_other() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let exported = world.kubectl.run(&["get", "configmap", "settings", "-n", &namespace, "-o", "yaml"]);
    assert!(exported.contains("uid:") && exported.contains("resourceVersion:"), "{exported}");
    let set = "applyset.kubernetes.io/part-of";
    let without_set: Vec<&str> =
        exported.lines().filter(|line| !line.contains(set) && line.trim() != "labels:").collect();
    let exported = format!("{}\n", without_set.join("\n"));
    let files = world.small().with("app/settings.yaml", exported);
    world.commit(&files);
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
    world.kubectl.run(&["delete", "configmap", "settings", "-n", &namespace]);
    world.windlass(&["run"]).ok().says("`metadata.uid` is left out");
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "blue");
}
