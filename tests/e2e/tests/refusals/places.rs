//! Clusters, repositories and rights that are not there; locks that are.

use serde_json::json;
use windlass_e2e::{Bed, Process, World, manifests, until};

#[test]
fn an_identity_without_rights() {
    let mut world = World::new();
    world.commit(&world.small());
    world.sign_in_as("nobody");
    for command in ["run", "plan", "status"] {
        world.windlass(&[command]).refuses(77, &["nobody"]);
    }
    super::assert_untouched(&world);
}

#[test]
fn an_api_server_that_does_not_answer() {
    let mut world = World::new();
    world.commit(&world.small());
    let kubeconfig = std::fs::read_to_string(Bed::get().identity("windlass-run")).unwrap();
    let server = kubeconfig.split_once("server: ").unwrap().1.lines().next().unwrap();
    let file = world.path("closed.kubeconfig");
    std::fs::write(&file, kubeconfig.replace(server, "https://127.0.0.1:1")).unwrap();
    world.configure(|settings| settings["cluster"]["kubeconfig"] = json!(file));
    for command in ["run", "plan", "drift", "status"] {
        world.windlass(&[command]).refuses(69, &["127.0.0.1:1"]);
    }
}

#[test]
fn a_context_that_the_kubeconfig_does_not_have() {
    let mut world = World::new();
    world.commit(&world.small());
    world.configure(|settings| settings["cluster"]["context"] = json!("production"));
    world.windlass(&["run"]).refuses(65, &["production"]);
}

#[test]
fn another_cluster_than_the_expected_one() {
    let mut world = World::new();
    world.commit(&world.small());
    world.configure(|settings| settings["cluster"]["uid"] = json!("7f0c1c52-6d4e-4b6f-9a0e-2f3f1d0c8a11"));
    for command in ["run", "plan"] {
        world.windlass(&[command]).refuses(4, &["7f0c1c52-6d4e-4b6f-9a0e-2f3f1d0c8a11"]);
    }
    let uid = world.kubectl.field("namespace", "", "kube-system", "/metadata/uid");
    world.configure(|settings| settings["cluster"]["uid"] = uid);
    world.windlass(&["run"]).ok();
}

#[test]
fn a_repository_that_cannot_be_reached() {
    let mut world = World::new();
    world.configure(|settings| settings["source"]["repository"] = json!("file:///nowhere/platform.git"));
    for command in ["run", "verify"] {
        world.windlass(&[command]).refuses(69, &["/nowhere/platform.git"]);
    }
}

/// Returns the run that holds the lock.
fn holder(world: &World) -> String {
    let lock = world.windlass(&["lock", "--output", "json"]);
    let id = lock.ok().json()["lock"]["id"].as_str().map(str::to_owned);
    id.unwrap_or_else(|| panic!("nobody holds the lock\n{lock}"))
}

/// Starts a run that waits for a rollout, and returns it once it does.
fn rolling_out(world: &World) -> Process {
    let started = "\"event\":\"stageStarted\",\"stage\":\"rollout\"";
    let before = world.journalled(started);
    let mut process = world.start(&["run"]);
    until(60, "the rollout of the first run", || {
        assert!(process.runs(), "{}", process.so_far());
        (world.journalled(started) > before).then_some(())
    });
    process
}

#[test]
fn a_lock_that_another_run_holds() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload = manifests::Workload::db(&namespace, &[("ready-after", "8s")]);
    world.commit(&world.small().with("app/db.yaml", manifests::stateful_set(&workload)));
    world.windlass(&["lock"]).ok();
    let first = rolling_out(&world);
    let second = world.windlass(&["run"]);
    second.refuses(6, &[]);
    let holder = holder(&world);
    second.says(&holder);
    world.windlass(&["plan"]).ok();
    world.windlass(&["status"]).ok().says(&holder);
    // A third waits for its turn, and then finds nothing to do.
    let third = world.start(&["run", "--lock-timeout", "60s"]);
    first.wait().ok();
    third.wait().ok();
}

#[test]
fn a_lock_is_taken_away_only_from_the_holder_that_is_named() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload = manifests::Workload::db(&namespace, &[("ready-after", "never")]);
    let mut world = world;
    world.configure(|settings| settings["timeouts"]["lease"] = json!("10m"));
    world.commit(&world.small().with("app/db.yaml", manifests::stateful_set(&workload)));
    let first = rolling_out(&world);
    first.signal("KILL");
    first.wait().exits(-9);
    let holder = holder(&world);
    world.windlass(&["run"]).refuses(6, &[&holder]);
    let wrong = world.windlass(&["unlock", "--holder", "20200101-000000-aaaa"]);
    wrong.says(&holder);
    assert_ne!(wrong.code, 0, "{wrong}");
    world.windlass(&["unlock", "--holder", &holder]).ok();
    world.configure(|settings| settings["timeouts"]["rollout"] = json!("3s"));
    let next = world.windlass(&["run"]);
    next.exits(8);
}

#[test]
fn an_older_commit_that_waited_for_the_lock_while_a_newer_one_was_delivered() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let older = world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    let workload = manifests::Workload::db(&namespace, &[("ready-after", "6s")]);
    let newer = world.small().replace("app/settings.yaml", "blue", "red");
    world.commit(&newer.with("app/db.yaml", manifests::deployment(&workload)));
    let first = rolling_out(&world);
    // When it begins, this commit is newer than what runs; when its turn comes, it is not.
    let second = world.start(&["run", "--commit", &older, "--lock-timeout", "60s"]);
    first.wait().ok();
    second.wait().refuses(4, &["rollback"]);
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "red");
    assert!(world.kubectl.exists("deployment", &namespace, "db"));
}
