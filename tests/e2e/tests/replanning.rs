//! What was approved is planned again under the lock: the same or less goes, anything new stops, with the difference.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_e2e::{Bed, Fate, Kubectl, Proxy, Sight, World, manifests};

/// A world where everything needs an approval, and where the next commit changes the settings and drops `old`.
fn waiting() -> World {
    let mut world = World::new();
    let old = manifests::config_map(&world.namespace("app"), "old", &[("a", "b")]);
    world.deliver(&world.small().with("app/old.yaml", old));
    world.configure(|settings| settings["approval"]["required"] = json!("always"));
    world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    world
}

fn delete(world: &World, name: &str) {
    world.kubectl.run(&["delete", "configmap", name, "-n", &world.namespace("app")]);
}

fn colour(world: &World) -> Value {
    world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour")
}

#[test]
fn a_part_of_what_was_approved_is_carried_out() {
    let world = waiting();
    let digest = world.plan_and_approve("alice")["changeDigest"].as_str().unwrap().to_owned();
    delete(&world, "old");
    world.windlass(&["apply", "--digest", &digest]).ok();
    assert_eq!(colour(&world), "green");
}

#[test]
fn what_is_new_compared_with_the_approved_plan_is_named() {
    let world = waiting();
    let digest = world.plan_and_approve("alice")["changeDigest"].as_str().unwrap().to_owned();
    delete(&world, "settings");
    for arguments in [&["run"][..], &["apply", "--digest", &digest]] {
        world
            .windlass(arguments)
            .refuses(5, &["not approved: create ConfigMap", "settings"])
            .never_says("not approved: prune");
    }
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "old"));
}

/// Nobody has to approve, but the caller names the plan that it has seen.
#[test]
fn a_digest_that_is_out_of_date_is_compared_with_what_is_known_of_it() {
    let mut world = waiting();
    let digest = world.plan_and_approve("alice")["changeDigest"].as_str().unwrap().to_owned();
    world.configure(|settings| settings["approval"]["required"] = json!("never"));
    delete(&world, "settings");
    let apply = ["apply", "--digest", &digest];
    // The approval lists the effects; it is not needed, and tells what they were.
    world.windlass(&apply).refuses(5, &["not approved: create ConfigMap"]).never_says("not approved: prune");
    for file in std::fs::read_dir(world.path("approvals")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let told = ["nothing is known but its digest", "create ConfigMap", "prune ConfigMap", "settings", "old"];
    world.windlass(&apply).refuses(5, &told);
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "old"));
}

/// Lets something happen between looking at the plan and typing its digest: when the lock is taken for the second time.
fn at_the_second_lock(world: &mut World, act: &'static [&'static str]) -> Proxy {
    let proxy = Proxy::start();
    proxy.stands_before(world);
    let (kubectl, namespace) = (Kubectl::admin(Bed::get()), world.namespace("app"));
    let locks = Arc::new(Mutex::new(0));
    proxy.decide(move |sight: &Sight| {
        let takes = sight.path.contains("/leases")
            && sight.writes()
            && !sight.renews_lock()
            && sight.body["spec"]["holderIdentity"].as_str().is_some_and(|holder| !holder.is_empty());
        let mut locks = locks.lock().unwrap();
        *locks += usize::from(takes);
        if takes && *locks == 2 {
            kubectl.run(&[act, &["-n", &namespace]].concat());
        }
        Fate::Passes
    });
    proxy
}

#[test]
fn a_plan_that_changes_while_somebody_looks_at_it_is_not_carried_out() {
    let mut world = waiting();
    let plan = world.windlass(&["plan", "--output", "json"]).json();
    let digest = plan["changeDigest"].as_str().unwrap().trim_start_matches("sha256:")[..8].to_owned();
    let _proxy = at_the_second_lock(&mut world, &["delete", "configmap", "settings"]);
    let (code, screen) = world.at_terminal(&["run"], &digest);
    assert_eq!(code, Some(5), "{screen}");
    assert!(screen.contains("changed while it was looked at"), "{screen}");
    assert!(screen.contains("not looked at: create ConfigMap"), "{screen}");
    assert!(!screen.contains("not looked at: prune"), "{screen}");
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "old"));
}

#[test]
fn what_is_left_of_a_plan_that_somebody_looked_at_is_carried_out() {
    let mut world = waiting();
    let plan = world.windlass(&["plan", "--output", "json"]).json();
    let digest = plan["changeDigest"].as_str().unwrap().trim_start_matches("sha256:")[..8].to_owned();
    let _proxy = at_the_second_lock(&mut world, &["delete", "configmap", "old"]);
    let (code, screen) = world.at_terminal(&["run"], &digest);
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(colour(&world), "green");
}

/// Their authors are told at once: asked again, the server would say the same.
#[test]
fn refusals_that_are_final_are_asked_for_once() {
    let mut world = World::new();
    let proxy = Proxy::start();
    proxy.stands_before(&mut world);
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let theirs = manifests::config_map(&namespace, "settings", &[("colour", "red")]);
    let foreign = ["apply", "--server-side", "--force-conflicts", "--field-manager=oncall", "-f", "-"];
    world.kubectl.feed(&foreign, &theirs);
    let broken = manifests::config_map(&namespace, "broken", &[]).replace("\ndata:", "\ndta: {}");
    let files = world.small().replace("app/settings.yaml", "blue", "green").with("app/broken.yaml", broken);
    world.commit(&files);
    proxy.pass();
    world.windlass(&["plan"]).refuses(65, &["broken", "dta", "colour", "oncall"]);
    let asked = |name: &str| {
        let seen = proxy.seen().into_iter();
        seen.filter(|sight| sight.method == "PATCH" && sight.name() == name).count()
    };
    // A conflict costs a second question: what would be if the field were taken.
    assert_eq!((asked("broken"), asked("settings")), (1, 2));
}
