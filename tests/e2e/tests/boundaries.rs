//! A run is killed at every request that it sends, before and after the server has carried it out; running again
//! leaves what an undisturbed run leaves.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_e2e::{Fate, Files, Proxy, Sight, World, difference, manifests};

/// How many boundaries are tried where time is short.
const SAMPLE: usize = 12;

/// Two versions of one unit of more than sixty objects. Between them objects are created, changed, deleted, moved to
/// another unit and left alone.
fn version(world: &World, name: &str) -> Files {
    let namespace = world.namespace("app");
    let units = manifests::units(&[("base", "base", ""), ("app", "app", "base"), ("side", "side", "app")]);
    let mut files = Files::new()
        .with("windlass.yaml", units)
        .with("base/namespace.yaml", manifests::namespace(&namespace))
        .with("side/side.yaml", manifests::config_map(&namespace, "side", &[]));
    let map = |name: &str, value: &str| manifests::config_map(&namespace, name, &[("value", value)]);
    for number in 0..12 {
        files = files.with(&format!("app/same-{number}.yaml"), map(&format!("same-{number}"), "same"));
    }
    for number in 0..16 {
        files = files.with(&format!("app/other-{number}.yaml"), map(&format!("other-{number}"), name));
    }
    for number in 0..20 {
        files = files.with(&format!("app/only-{number}.yaml"), map(&format!("only-{name}-{number}"), "only"));
    }
    for number in 0..6 {
        let secret = manifests::secret(&namespace, &format!("secret-{number}"), &[("value", name)]);
        let service = manifests::headless(&namespace, &format!("service-{number}"));
        files = files
            .with(&format!("app/secret-{number}.yaml"), secret)
            .with(&format!("app/service-{number}.yaml"), service);
    }
    let unit = if name == "a" { "app" } else { "side" };
    files.with(&format!("{unit}/moves.yaml"), map("moves", "same"))
}

/// Everything that a run leaves behind in the cluster, by kind and name, without what differs between two equal runs.
fn state(world: &World) -> BTreeMap<String, Value> {
    let namespace = world.namespace("app");
    let kinds = "configmaps,secrets,services,serviceaccounts";
    let mut state = BTreeMap::new();
    let mut objects = world.kubectl.json(&[kinds, "-n", &namespace, "--show-managed-fields"]);
    let records = world.kubectl.json(&["configmaps,leases", "-n", "windlass-system", "-l", &label(world)]);
    let items = [&mut objects, &mut records.clone()].map(|list| list["items"].take());
    for mut object in items.into_iter().filter_map(|items| items.as_array().cloned()).flatten() {
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let metadata = object["metadata"].as_object_mut().unwrap();
        for field in ["resourceVersion", "creationTimestamp", "generation"] {
            metadata.remove(field);
        }
        // What exists in one version only is created anew each time it is delivered.
        if name.starts_with("only-") || kind == "Lease" {
            metadata.remove("uid");
        }
        for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten() {
            entry.as_object_mut().unwrap().remove("time");
        }
        if kind == "Service" {
            object["spec"] =
                json!({"selector": object["spec"]["selector"], "ports": object["spec"]["ports"]});
        }
        match object["metadata"]["labels"]["windlass.dev/record"].as_str() {
            Some("run") => continue,
            Some("state") => object = json!({"current": current(&object)}),
            _ => {}
        }
        if kind == "Lease" {
            // Held by nobody; how often it was handed on is of no interest.
            object = json!({"holder": object["spec"]["holderIdentity"]});
        }
        state.insert(format!("{kind} {name}"), object);
    }
    state
}

/// Returns the run that began to write and has not completed, as the record of the environment says.
fn current(record: &Value) -> Value {
    let state: Value = serde_json::from_str(record["data"]["state"].as_str().unwrap()).unwrap();
    state["current"].clone()
}

fn label(world: &World) -> String {
    format!("windlass.dev/environment={}", world.environment)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A write of a run, in a form that says what step of the run it is.
fn step(sight: &Sight) -> String {
    let name: String = sight.name().chars().filter(|c| !c.is_ascii_digit()).collect();
    format!("{} {}", sight.method, name.trim_end_matches('-'))
}

fn counts(sight: &Sight) -> bool {
    sight.writes() && !sight.renews_lock()
}

/// Delivers a version undisturbed; returns the steps of its writes.
fn undisturbed(world: &World, proxy: &Proxy, files: &Files) -> Vec<String> {
    world.commit(files);
    proxy.pass();
    world.windlass(&["run"]).ok();
    proxy.seen().iter().filter(|sight| counts(sight)).map(step).collect()
}

/// Delivers a version, killing the run at its `number`-th write; says `false` if the run ended before.
fn killed(world: &World, proxy: &Proxy, files: &Files, number: usize, fate: Fate) -> bool {
    world.commit(files);
    let mut left = number;
    proxy.decide(move |sight: &Sight| {
        if !counts(sight) {
            return Fate::Passes;
        }
        left = left.saturating_sub(1);
        if left == 0 { fate } else { Fate::Passes }
    });
    let mut process = world.start(&["run"]);
    let frozen = proxy.freezes(&mut process);
    if frozen {
        process.signal("KILL");
        process.wait().exits(-9);
    } else {
        process.wait().ok();
    }
    proxy.thaw();
    frozen
}

/// Takes the dead run's lock away, as a person would who does not want to wait for its end.
fn unlock(world: &World) {
    let lock = world.windlass(&["lock", "--output", "json"]).ok().json();
    if let Some(holder) = lock["lock"]["id"].as_str() {
        world.windlass(&["unlock", "--holder", holder]).ok();
    }
}

/// Picks the first and the last write of each kind, but no more than there is time for.
fn sample(steps: &[String]) -> Vec<usize> {
    let first = |step: &String| steps.iter().position(|other| other == step);
    let last = |step: &String| steps.iter().rposition(|other| other == step);
    let edge = |index: &usize| [first(&steps[*index]), last(&steps[*index])].contains(&Some(*index));
    let edges: Vec<usize> = (0..steps.len()).filter(edge).collect();
    edges.iter().step_by(edges.len().div_ceil(SAMPLE)).copied().collect()
}

#[expect(clippy::disallowed_methods, reason = "`make soak` asks for every boundary in the environment")]
fn soak() -> bool {
    std::env::var_os("WINDLASS_TEST_SOAK").is_some()
}

#[test]
fn a_run_that_is_killed_at_any_request_is_finished_by_the_next() {
    let mut world = World::new();
    let proxy = Proxy::start();
    proxy.stands_before(&mut world);
    world.configure(|settings| settings["timeouts"]["lease"] = json!("60s"));
    let versions = ["a", "b"].map(|name| version(&world, name));
    let mut steps = Vec::new();
    let mut want = Vec::new();
    // The second round is what counts: the first one creates what later ones find.
    for files in versions.iter().chain(&versions) {
        steps.push(undisturbed(&world, &proxy, files));
        want.push(state(&world));
    }
    assert!(steps[3].len() > 70, "few boundaries: {:#?}", steps[3]);
    // Version b runs. Each round goes to the other one.
    let boundaries: Vec<usize> = if soak() { (0..steps[2].len()).collect() } else { sample(&steps[2]) };
    let mut next = 2;
    for index in boundaries {
        let fates = if soak() { vec![Fate::FreezesBefore, Fate::FreezesAfter] } else { vec![either(index)] };
        for fate in fates {
            let frozen = killed(&world, &proxy, &versions[next - 2], index + 1, fate);
            unlock(&world);
            let resumed = world.windlass(&["run"]);
            resumed.ok();
            let place = format!(
                "killed at write {} ({}), {fate:?}, {frozen}",
                index + 1,
                steps[next][index.min(steps[next].len() - 1)]
            );
            let (want, got) = (json!(want[next]), json!(state(&world)));
            assert_eq!(difference(&want, &got), [""; 0], "undisturbed ≠ {place}\n{resumed}");
            next = if next == 2 { 3 } else { 2 };
        }
    }
    world.windlass(&["drift"]).ok();
}

/// Alternates between the two sides of a request.
fn either(index: usize) -> Fate {
    if index.is_multiple_of(2) { Fate::FreezesBefore } else { Fate::FreezesAfter }
}
