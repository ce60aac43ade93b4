//! The first delivery onto what is there already.

use serde_json::Value;
use windlass_e2e::{Files, World, manifests};

fn files(world: &World) -> Files {
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    world
        .small()
        .with("app/db.yaml", manifests::stateful_set(&workload))
        .with("app/web.yaml", manifests::deployment(&manifests::Workload { name: "web", ..workload }))
        .with("app/service.yaml", manifests::headless(&namespace, "db"))
}

fn uids(world: &World) -> Vec<(String, Value)> {
    let list = world.kubectl.json(&["all,configmaps,pvc", "-n", &world.namespace("app")]);
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|o| (format!("{}/{}", o["kind"], o["metadata"]["name"]), o["metadata"]["uid"].clone()))
        .collect()
}

/// Applies the files in another way, delivers them, and expects that nothing is made anew.
fn adopt(apply: &[&str]) {
    let world = World::new();
    let files = files(&world);
    for unit in ["base/", "app/"] {
        let manifests: Vec<&str> =
            files.iter().filter(|(path, _)| path.starts_with(unit)).map(|(_, text)| text).collect();
        world.kubectl.feed(apply, &manifests.join("---\n"));
    }
    let namespace = world.namespace("app");
    for workload in ["statefulset/db", "deployment/web"] {
        world.kubectl.run(&["rollout", "status", workload, "-n", &namespace, "--timeout=60s"]);
    }
    let before = uids(&world);
    world.commit(&files);
    let plan = world.windlass(&["plan", "--output", "json"]).ok().json().to_string();
    assert!(plan.contains("\"adopt\""), "{plan}");
    assert!(!plan.contains("\"operation\":\"create\""), "{plan}");
    world.windlass(&["plan"]).ok().says("adopt").says("settings").says("web");
    world.windlass(&["run"]).ok();
    assert_eq!(uids(&world), before, "something was made anew or restarted");
    world.windlass(&["drift"]).ok();
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
    // From now on it is ours: what Git no longer holds goes.
    world.commit(&files.without("app/web.yaml"));
    world.windlass(&["run"]).ok();
    assert!(!world.kubectl.exists("deployment", &namespace, "web"));
}

#[test]
fn what_kubectl_applied_client_side_is_adopted_without_a_restart() {
    adopt(&["apply", "-f", "-"]);
}

#[test]
fn what_kubectl_applied_server_side_is_adopted_without_a_restart() {
    adopt(&["apply", "--server-side", "-f", "-"]);
}

#[test]
fn what_kubectl_created_is_adopted_without_a_restart() {
    adopt(&["create", "-f", "-"]);
}
