//! A run is killed at every request that it sends, before and after the server has carried it out; running again
//! leaves what an undisturbed run leaves.

mod state;
mod versions;

use serde_json::json;
use state::{settled, state};
use windlass_e2e::{Fate, Files, Proxy, Sight, World, difference};

/// The sorts of writes that are tried where time is short. Each occurs in every run.
const SORTS: [&str; 14] = [
    "PUT leases",
    "PUT configmaps state",
    "POST configmaps run",
    "PATCH configmaps parent",
    "PATCH customresourcedefinitions",
    "PATCH widgets",
    "PATCH configmaps hand: ownership",
    "PATCH configmaps adopted",
    "PATCH statefulsets",
    "PATCH validatingwebhookconfigurations",
    "PATCH persistentvolumes",
    "DELETE persistentvolumeclaims",
    "DELETE widgets",
    "DELETE customresourcedefinitions",
];

/// How often the state is compared before two states are different: controllers may still be at work.
const LOOKS: usize = 20;

/// One write of a run, told by what it is and how many of its sort came before it: those of one rank are sent in no
/// fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    sort: String,
    nth: usize,
}

/// Returns what is written, in words that say what step of a run it is.
fn sort(sight: &Sight) -> String {
    let mut parts: Vec<&str> = sight.path.split('/').collect();
    let name = if sight.method == "POST" { "" } else { parts.pop().unwrap_or_default() };
    let resource = parts.last().copied().unwrap_or_default();
    let recorded = sight.path.contains("/namespaces/windlass-system/");
    let of = match (resource, sight.body["metadata"]["labels"]["windlass.dev/record"].as_str()) {
        ("configmaps", Some(record)) => format!(" {record}"),
        ("configmaps", None) if recorded => " parent".to_owned(),
        ("configmaps", None) => format!(" {}", name.split('-').next().unwrap_or_default()),
        _ => String::new(),
    };
    let ownership = if resource == "configmaps" && sight.body.is_array() { ": ownership" } else { "" };
    format!("{} {resource}{of}{ownership}", sight.method)
}

fn counts(sight: &Sight) -> bool {
    sight.writes() && !sight.renews_lock()
}

/// Delivers a version undisturbed; returns its writes.
fn undisturbed(world: &World, proxy: &Proxy, name: &str, files: &Files) -> Vec<Place> {
    versions::prepare(world, name);
    world.commit(files);
    proxy.pass();
    world.windlass(&["run"]).ok();
    let mut places: Vec<Place> = Vec::new();
    for sort in proxy.seen().iter().filter(|sight| counts(sight)).map(sort) {
        let nth = places.iter().filter(|place| place.sort == sort).count();
        places.push(Place { sort, nth });
    }
    places
}

/// Delivers a version, killing the run at a write; says `false` if the run ended before.
fn killed(world: &World, proxy: &Proxy, files: &Files, place: &Place, fate: Fate) -> bool {
    world.commit(files);
    let (place, mut before) = (place.clone(), 0);
    proxy.decide(move |sight: &Sight| {
        if !counts(sight) || sort(sight) != place.sort {
            return Fate::Passes;
        }
        before += 1;
        if before == place.nth + 1 { fate } else { Fate::Passes }
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

/// Returns how the state differs from what an undisturbed run leaves, once it stays so.
fn differences(world: &World, want: &state::State) -> Vec<String> {
    let mut found = vec!["the state could not be read".to_owned()];
    for _ in 0..LOOKS {
        let Some(got) = state(world) else { continue };
        found = difference(&json!(want), &json!(got));
        if found.is_empty() {
            break;
        }
    }
    found
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
    versions::allow(&mut world);
    world.configure(|settings| settings["timeouts"]["lease"] = json!("60s"));
    let versions = versions::NAMES.map(|name| (name, versions::version(&world, name)));
    let (mut places, mut want) = (Vec::new(), Vec::new());
    // The second round is what counts: the first one creates what later ones find.
    world.kubectl.run(&["create", "namespace", &world.namespace("app")]);
    for (name, files) in versions.iter().chain(&versions) {
        places.push(undisturbed(&world, &proxy, name, files));
        want.push(settled(&world));
        versions::clear(&world);
    }
    let (want, places) = (want.split_off(2), places.split_off(2));
    assert!(places[0].len() > 70, "few boundaries: {:#?}", places[0]);
    // Version b runs. Each round goes to the other one.
    let sampled = SORTS.map(|sort| Place { sort: sort.to_owned(), nth: 0 });
    let missing: Vec<&Place> =
        sampled.iter().filter(|place| !places.iter().all(|run| run.contains(place))).collect();
    assert!(missing.is_empty(), "{missing:?} is not written by {places:#?}");
    let mut next = 0;
    for place in if soak() { places[0].clone() } else { sampled.to_vec() } {
        for fate in [Fate::FreezesBefore, Fate::FreezesAfter] {
            let (name, files) = &versions[next];
            versions::prepare(&world, name);
            let frozen = killed(&world, &proxy, files, &place, fate);
            assert!(frozen || soak(), "{place:?} was not reached");
            unlock(&world);
            let resumed = world.windlass(&["run"]);
            resumed.ok();
            let found = differences(&world, &want[next]);
            assert_eq!(found, [""; 0], "undisturbed ≠ killed at {place:?}, {fate:?}, {frozen}\n{resumed}");
            versions::clear(&world);
            next = 1 - next;
        }
    }
    world.windlass(&["drift"]).ok();
}
