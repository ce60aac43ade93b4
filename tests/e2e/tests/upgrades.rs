//! Upgrades that do not work: the report says why, and a rollback mends it.

use serde_json::json;
use windlass_e2e::{Files, Outcome, World, manifests};

/// Delivers version 1 of a workload, then version 2, which shows the symptoms.
fn upgrade(stateful: bool, symptoms: &[(&str, &str)]) -> (World, Outcome) {
    let mut world = World::new();
    world.configure(|settings| settings["timeouts"]["rollout"] = json!("60s"));
    let symptoms = [symptoms, &[("from-revision", "2")]].concat();
    let files = |version: &str| -> Files {
        let namespace = world.namespace("app");
        let workload = manifests::Workload {
            namespace: &namespace,
            name: "db",
            version,
            replicas: 2,
            symptoms: &symptoms,
        };
        let manifest =
            if stateful { manifests::stateful_set(&workload) } else { manifests::deployment(&workload) };
        let old = manifests::config_map(&namespace, "old", &[]);
        let files = world.small().with("app/db.yaml", manifest);
        if version == "1" { files.with("app/old.yaml", old) } else { files }
    };
    world.deliver(&files("1"));
    world.commit(&files("2"));
    let outcome = world.windlass(&["run"]);
    let namespace = world.namespace("app");
    assert!(world.kubectl.exists("configmap", &namespace, "old"), "pruned after a failed rollout\n{outcome}");
    (world, outcome)
}

/// Rolls back, and expects the old template everywhere.
fn roll_back(world: &World) {
    let rollback = ["rollback", "--reason", "version 2 does not start (INC-1)"];
    let namespace = world.namespace("app");
    let mut outcome = world.windlass(&rollback);
    if outcome.code == 8 {
        // The pod of the broken revision blocks its own replacement: it is named, and goes by hand.
        outcome.refuses(8, &["kubectl delete pod", "db-1"]);
        world.kubectl.run(&["delete", "pod", "db-1", "-n", &namespace]);
        outcome = world.windlass(&rollback);
    }
    outcome.ok();
    roll_back_is_complete(world);
}

/// Expects the old template everywhere.
fn roll_back_is_complete(world: &World) {
    let namespace = world.namespace("app");
    let pods = world.kubectl.json(&["pods", "-n", &namespace, "-l", "app=db"]);
    let running =
        pods["items"].as_array().unwrap().iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null());
    for pod in running {
        assert_eq!(pod["spec"]["containers"][0]["image"], "registry.example.com/e2e/db:1", "{pod:#}");
        assert_eq!(pod["status"]["containerStatuses"][0]["ready"], true, "{pod:#}");
    }
    world.windlass(&["drift"]).ok();
    world.windlass(&["history"]).ok().says("rollback");
}

#[test]
fn an_image_that_cannot_be_pulled_names_pod_image_and_events() {
    let (world, outcome) = upgrade(true, &[("image-pull-error", "true")]);
    outcome
        .refuses(8, &["db-1", "registry.example.com/e2e/db:2"])
        .says_one_of(&["ImagePullBackOff", "ErrImagePull"]);
    roll_back(&world);
}

#[test]
fn a_pod_that_blocks_its_own_repair_goes_where_the_environment_allows_it() {
    let (mut world, outcome) = upgrade(true, &[("ready-after", "never"), ("image-pull-error", "true")]);
    outcome.exits(8);
    world.configure(|settings| settings["rollout"]["rescueStuckPods"] = json!(true));
    world.windlass(&["rollback", "--reason", "version 2 does not start"]).ok().says("db-1");
    roll_back_is_complete(&world);
}

#[test]
fn a_crash_loop_shows_the_last_lines_of_the_log() {
    let log = "FATAL could not open relation 16384";
    let (world, outcome) =
        upgrade(true, &[("crash-loop", "true"), ("exit-code", "7"), ("run-for", "100ms"), ("logs", log)]);
    outcome.refuses(8, &["db-1", log]).says_one_of(&["CrashLoopBackOff", "crash"]).says("7");
    roll_back(&world);
}

#[test]
fn a_deployment_that_never_becomes_ready_times_out_with_its_state() {
    let mut world = World::new();
    world.configure(|settings| settings["timeouts"]["rollout"] = json!("12s"));
    let namespace = world.namespace("app");
    let symptoms = [("ready-after", "never"), ("from-revision", "2")];
    let web = |version| {
        let workload = manifests::Workload { version, ..manifests::Workload::db(&namespace, &symptoms) };
        world.small().with("app/db.yaml", manifests::deployment(&workload))
    };
    world.deliver(&web("1"));
    world.commit(&web("2"));
    let outcome = world.windlass(&["run"]);
    outcome
        .refuses(8, &["db"])
        .says_one_of(&["timed out", "timeout", "deadline", "not ready in time"])
        .says("Unhealthy");
    roll_back(&world);
}

#[test]
fn a_missing_secret_key_is_named() {
    let (world, outcome) = upgrade(false, &[("config-error", "DB_URL")]);
    outcome.refuses(8, &["DB_URL", "CreateContainerConfigError"]);
    roll_back(&world);
}

#[test]
fn the_record_of_a_failed_rollout_says_why() {
    let (world, outcome) = upgrade(false, &[("image-pull-error", "true")]);
    outcome.exits(8);
    let history = world.windlass(&["history", "--output", "json"]).ok().json();
    let run = history["runs"][0].clone();
    assert_eq!(run["outcome"], "rollout-failed", "{history:#}");
    world.windlass(&["show", run["id"].as_str().unwrap()]).ok().says("rollout").says("db");
    let shown = world.windlass(&["show", run["id"].as_str().unwrap(), "--output", "json"]).ok().json();
    assert!(shown.to_string().contains("rollout-failed"), "the run's own outcome is lost: {shown:#}");
    // What runs, how the last run ended, who holds the lock: docs/concepts/rollback.md.
    world.windlass(&["status"]).ok().says("rollout-failed");
}
