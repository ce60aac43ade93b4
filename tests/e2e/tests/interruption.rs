//! A run can be stopped anywhere, and running again finishes the work.

use serde_json::{Value, json};
use windlass_e2e::{Fate, Files, Proxy, Sight, World, difference, manifests, normalise, until};

/// Enough objects that a signal comes in the midst of them.
const MANY: usize = 150;

/// What runs at first: `old` is to be pruned by the second version.
fn first(world: &World) -> Files {
    let namespace = world.namespace("app");
    world.small().with("app/old.yaml", manifests::config_map(&namespace, "old", &[]))
}

/// Many objects, and a workload that takes its time.
fn second(world: &World) -> Files {
    let namespace = world.namespace("app");
    let workload = manifests::Workload::db(&namespace, &[("ready-after", "4s")]);
    let mut files =
        first(world).without("app/old.yaml").with("app/db.yaml", manifests::stateful_set(&workload));
    for number in 0..MANY {
        let name = format!("many-{number}");
        let number = number.to_string();
        files = files.with(
            &format!("app/{name}.yaml"),
            manifests::config_map(&namespace, &name, &[("number", number.as_str())]),
        );
    }
    files
}

/// Returns what is delivered, without the names that differ between worlds.
fn state(world: &World) -> Vec<Value> {
    let namespace = world.namespace("app");
    let list = world.kubectl.json(&["configmaps,statefulsets", "-n", &namespace]);
    let items = list["items"].as_array().unwrap().iter();
    let items = items.filter(|object| object["metadata"]["name"] != "kube-root-ca.crt");
    items.map(|object| normalise(object, &world.suffix, "SUFFIX")).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Moment {
    Apply,
    Rollout,
}

fn interrupt(signal: &str, moment: Moment) -> World {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&first(&world));
    let sent_before = world.journalled("\"event\":\"sending\"");
    let rollouts_before = world.journalled("\"event\":\"stageStarted\",\"stage\":\"rollout\"");
    world.commit(&second(&world));
    let mut process = world.start(&["run"]);
    until(60, "the moment to interrupt", || {
        assert!(process.runs(), "the run ended before it was interrupted\n{}", process.so_far());
        let reached = match moment {
            Moment::Apply => world.journalled("\"event\":\"sending\"") >= sent_before + 10,
            Moment::Rollout => {
                world.journalled("\"event\":\"stageStarted\",\"stage\":\"rollout\"") > rollouts_before
            }
        };
        reached.then_some(())
    });
    process.signal(signal);
    let outcome = process.wait();
    if signal == "KILL" {
        outcome.exits(-9);
    } else {
        outcome.refuses(10, &[]);
    }
    assert!(world.kubectl.exists("configmap", &namespace, "old"), "an interrupted run has pruned\n{outcome}");
    if moment == Moment::Apply {
        let applied = world.kubectl.json(&["configmaps", "-n", &namespace]);
        let count = crate::names(&applied).iter().filter(|name| name.starts_with("many-")).count();
        assert!(count < MANY, "the signal came too late to interrupt anything\n{outcome}");
    }
    world
}

fn finish(signal: &str) {
    let undisturbed = World::new();
    undisturbed.deliver(&first(&undisturbed));
    undisturbed.deliver(&second(&undisturbed));
    let want = state(&undisturbed);
    drop(undisturbed);
    for moment in [Moment::Apply, Moment::Rollout] {
        let world = interrupt(signal, moment);
        // After a kill the lock runs out first.
        let waiting: &[&str] = if signal == "KILL" { &["--lock-timeout", "60s"] } else { &[] };
        world.windlass(&[&["run"], waiting].concat()).ok();
        let got = state(&world);
        assert_eq!(difference(&json!(want), &json!(got)), [""; 0], "undisturbed ≠ interrupted and resumed");
        assert!(!world.kubectl.exists("configmap", &world.namespace("app"), "old"));
        world.windlass(&["drift"]).ok();
    }
}

#[test]
fn sigint_stops_a_run_and_the_next_one_finishes() {
    finish("INT");
}

#[test]
fn sigterm_stops_a_run_and_the_next_one_finishes() {
    finish("TERM");
}

#[test]
fn a_killed_run_is_survived_by_running_again_after_the_lease() {
    finish("KILL");
}

/// The first signal was swallowed: the command went on to its end.
#[test]
fn a_command_that_writes_nothing_stops_at_the_first_signal() {
    let mut world = World::new();
    let proxy = Proxy::start();
    proxy.stands_before(&mut world);
    world.deliver(&world.small());
    for (command, path) in [("gate", "/version"), ("plan", "/apis"), ("drift", "/apis")] {
        proxy.decide(
            move |sight: &Sight| {
                if sight.path == path { Fate::FreezesBefore } else { Fate::Passes }
            },
        );
        let mut process = world.start(&[command]);
        assert!(proxy.freezes(&mut process), "{}", process.so_far());
        process.signal("INT");
        let outcome = process.wait();
        assert_eq!(outcome.code, 10, "{outcome}");
        proxy.thaw();
    }
}
