//! Clusters, repositories and rights that are not there; locks that are.

use serde_json::json;
use windlass_e2e::{Bed, World, manifests, until};

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

#[test]
fn a_lock_that_another_run_holds() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload = manifests::Workload {
        namespace: &namespace,
        name: "db",
        version: "1",
        replicas: 1,
        symptoms: &[("ready-after", "8s")],
    };
    world.commit(&world.small().with("app/db.yaml", manifests::stateful_set(&workload)));
    world.windlass(&["lock"]).ok();
    let mut first = world.start(&["run"]);
    until(30, "the rollout of the first run", || {
        assert!(first.runs(), "{}", first.so_far());
        (world.journalled("\"event\":\"stageStarted\",\"stage\":\"rollout\"") > 0).then_some(())
    });
    let second = world.windlass(&["run"]);
    second.refuses(6, &[]);
    let lock = world.windlass(&["lock", "--output", "json"]);
    let holder = lock.ok().json()["holder"].clone();
    let holder =
        holder["run"].as_str().or(holder.as_str()).unwrap_or_else(|| panic!("no holder\n{lock}")).to_owned();
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
    let workload = manifests::Workload {
        namespace: &namespace,
        name: "db",
        version: "1",
        replicas: 1,
        symptoms: &[("ready-after", "never")],
    };
    let mut world = world;
    world.configure(|settings| settings["timeouts"]["lease"] = json!("10m"));
    world.commit(&world.small().with("app/db.yaml", manifests::stateful_set(&workload)));
    let mut first = world.start(&["run"]);
    until(30, "the rollout of the first run", || {
        assert!(first.runs(), "{}", first.so_far());
        (world.journalled("\"event\":\"stageStarted\",\"stage\":\"rollout\"") > 0).then_some(())
    });
    first.signal("KILL");
    first.wait().exits(-9);
    let lock = world.windlass(&["lock", "--output", "json"]);
    let holder = lock.ok().json()["holder"].clone();
    let holder =
        holder["run"].as_str().or(holder.as_str()).unwrap_or_else(|| panic!("no holder\n{lock}")).to_owned();
    world.windlass(&["run"]).refuses(6, &[&holder]);
    let wrong = world.windlass(&["unlock", "--holder", "20200101-000000-aaaa"]);
    wrong.says(&holder);
    assert_ne!(wrong.code, 0, "{wrong}");
    world.windlass(&["unlock", "--holder", &holder]).ok();
    world.commit(
        &world
            .small()
            .with("app/db.yaml", manifests::stateful_set(&manifests::Workload { symptoms: &[], ..workload })),
    );
    let next = world.windlass(&["run"]);
    assert_ne!(next.code, 6, "{next}");
}
