//! Approvals that do not count.

use windlass_e2e::{Change, World};

/// A world in which one version runs and the next one waits for an approval.
fn waiting(author: &str) -> World {
    let mut world = World::new();
    world.deliver(&world.small());
    world.configure(|settings| settings["approval"]["required"] = "always".into());
    let changed = world.small().replace("app/settings.yaml", "blue", "green");
    world.commit_as(&changed, &Change { author, ..world.repository.merged() });
    world
}

#[track_caller]
fn assert_colour(world: &World, colour: &str) {
    let namespace = world.namespace("app");
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), colour);
}

#[test]
fn no_approval() {
    let world = waiting("developer@example.com");
    world.windlass(&["run"]).refuses(3, &["approv"]);
    assert_colour(&world, "blue");
    world.plan_and_approve("bob");
    world.windlass(&["run"]).ok().says("bob");
    assert_colour(&world, "green");
}

#[test]
fn an_approval_by_the_author() {
    let world = waiting("alice@example.com");
    world.plan_and_approve("alice");
    world.windlass(&["run"]).refuses(3, &["alice", "author"]);
    assert_colour(&world, "blue");
}

#[test]
fn an_approval_that_has_expired() {
    let world = waiting("developer@example.com");
    let plan = world.path("plan");
    world.windlass(&["plan", "--out", plan.to_str().unwrap()]).ok();
    world.approve(&plan.join("plan.json"), "alice", &["--valid-for", "1s"]).ok();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    world.windlass(&["run"]).refuses(3, &["expired"]);
    assert_colour(&world, "blue");
}

#[test]
fn an_approval_that_counts_for_longer_than_allowed() {
    let world = waiting("developer@example.com");
    let plan = world.path("plan");
    world.windlass(&["plan", "--out", plan.to_str().unwrap()]).ok();
    world.approve(&plan.join("plan.json"), "alice", &["--valid-for", "9h"]).ok();
    world.windlass(&["run"]).refuses(3, &["longer"]);
}

#[test]
fn an_approval_signed_with_another_person_s_key() {
    let world = waiting("developer@example.com");
    let (plan, out) = (world.path("plan"), world.path("approvals"));
    world.windlass(&["plan", "--out", plan.to_str().unwrap()]).ok();
    let key = world.keys.bob.private.to_str().unwrap();
    let file = plan.join("plan.json");
    let arguments = ["approve", file.to_str().unwrap(), "--key", key, "--as", "alice", "--yes", "--out"];
    world.call(&[&arguments[..], &[out.to_str().unwrap()]].concat()).ok();
    world.windlass(&["run"]).refuses(3, &["alice", "bob"]);
    assert_colour(&world, "blue");
}

#[test]
fn an_approval_of_less_than_would_happen() {
    let world = waiting("developer@example.com");
    world.plan_and_approve("alice");
    // Somebody changes the cluster after the plan was looked at: now one object more would be written.
    let namespace = world.namespace("app");
    world.kubectl.run(&["label", "namespace", &namespace, "pod-security.kubernetes.io/enforce=restricted"]);
    world.windlass(&["run"]).ok();
    assert_colour(&world, "green");
    world.commit(&world.small().replace("app/settings.yaml", "blue", "red"));
    world.plan_and_approve("alice");
    world.kubectl.run(&["delete", "configmap", "settings", "-n", &namespace]);
    world.windlass(&["run"]).refuses(5, &["settings", "plan"]);
    assert!(!world.kubectl.exists("configmap", &namespace, "settings"));
}

#[test]
fn an_approval_that_was_used_already() {
    let world = waiting("developer@example.com");
    world.plan_and_approve("alice");
    world.windlass(&["run"]).ok();
    let namespace = world.namespace("app");
    let by_hand = r#"{"data":{"colour":"blue"}}"#;
    // The same change again: same effect, but the approval has been used up.
    world.kubectl.run(&["patch", "configmap", "settings", "-n", &namespace, "-p", by_hand]);
    world.windlass(&["run"]).refuses(3, &[]);
    assert_colour(&world, "blue");
}

#[test]
fn the_digest_of_another_plan() {
    let world = waiting("developer@example.com");
    world.plan_and_approve("alice");
    let other = format!("sha256:{}", "ab".repeat(32));
    world.windlass(&["apply", "--digest", &other]).refuses(5, &[]);
    assert_colour(&world, "blue");
}

#[test]
fn the_digest_of_this_plan_is_applied() {
    let world = waiting("developer@example.com");
    let plan = world.plan_and_approve("alice");
    let digest = plan["changeDigest"].as_str().unwrap();
    world.windlass(&["apply", "--digest", digest]).ok();
    assert_colour(&world, "green");
}

#[test]
fn one_approver_where_two_are_needed() {
    let mut world = waiting("developer@example.com");
    world.configure(|settings| settings["approval"]["count"] = 2.into());
    world.plan_and_approve("alice");
    world.windlass(&["run"]).refuses(3, &["needs 2", "1 given (by "]);
    world.approve(&world.path("plan/plan.json"), "alice", &[]).ok();
    world.windlass(&["run"]).refuses(3, &["needs 2", "1 given"]);
    world.approve(&world.path("plan/plan.json"), "bob", &[]).ok();
    world.windlass(&["run"]).ok();
    assert_colour(&world, "green");
}
