//! Differential test: of some hundreds of pairs of live and desired objects, a plan says what the server's own dry-run
//! says, and a run leaves what kubectl leaves.
//!
//! What is expected is nowhere written down: each pair is asked of the server without Windlass.

mod delta;
mod each;
mod edit;
mod generate;
mod kinds;
mod oracle;
mod scene;
mod twin;
mod verdict;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use each::each;
use generate::{Pair, pairs};
use kinds::Kind;
use oracle::{MANAGER, Truth, apply, labelled};
use scene::Scene;
use verdict::{Case, class};

/// How often everything is asked again while controllers still write.
const ROUNDS: usize = 8;

/// The class of pairs whose twin is not what the object will be once ownership has moved.
const NOT_COMPARABLE: &str = "not comparable";

/// What both sides say about one pair.
struct Judged {
    disagreements: Vec<String>,
    class: String,
    is_accepted: bool,
    is_settled: bool,
}

/// The pairs of every ordinary run.
const SEED: u64 = 2;

#[expect(
    clippy::disallowed_methods,
    reason = "whoever starts the tests chooses seed and length in the environment"
)]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn plans_say_what_dry_runs_say_and_runs_leave_what_kubectl_leaves() {
    let is_soak = variable("WINDLASS_TEST_SOAK").is_some();
    // What fails by chance, in a change that has nothing to do with it, is mended by nobody.
    let seed = variable("WINDLASS_TEST_SEED");
    let seed = seed.unwrap_or_else(|| if is_soak { rand::random() } else { SEED });
    let rounds = if is_soak { 12 } else { 1 };
    for seed in (0..rounds).map(|round| seed.wrapping_add(round)) {
        println!("WINDLASS_TEST_SEED={seed}");
        println!("{:#?}", compare(seed));
    }
}

/// Compares all pairs of one seed, and returns how many came out as what.
fn compare(seed: u64) -> BTreeMap<String, usize> {
    let (mut scene, kinds) = Scene::new();
    let pairs = pairs(&kinds, seed, &scene.here, &scene.world.suffix);
    assert!(kinds.len() >= 30 && pairs.len() >= 500);
    let set = scene.populate(&pairs);
    scene.commit(pairs.iter().map(|pair| &pair.desired));
    let judged = judge(&scene, &pairs, &set);
    let mut wrong: Vec<String> = Vec::new();
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    for (pair, judged) in pairs.iter().zip(&judged) {
        *classes.entry(judged.class.clone()).or_default() += 1;
        wrong.extend(judged.disagreements.iter().map(|what| format!("plan of {pair}\n    {what}")));
    }
    wrong.extend(carry_out(&mut scene, &pairs, &judged, &set));
    assert!(
        wrong.is_empty(),
        "WINDLASS_TEST_SEED={seed}: {} disagreements\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for class in
        ["create", "no-op", "update", "adopt", "recreate immutable", "update invalid", "update conflicts"]
    {
        assert!(classes.contains_key(class), "no pair came out as `{class}`, so it was not compared");
    }
    let incomparable = classes.get(NOT_COMPARABLE).copied().unwrap_or_default();
    assert!(incomparable * 20 < pairs.len(), "{incomparable} pairs were not compared");
    classes
}

/// Plans, asks the server, and compares. Both must speak of the same version of an object.
fn judge(scene: &Scene, pairs: &[Pair<'_>], set: &str) -> Vec<Judged> {
    let mut judged = Vec::new();
    for _ in 0..ROUNDS {
        let truths = each(pairs, |pair| truths(scene, pair, set));
        let outcome = scene.world.windlass(&["plan", "--no-memo", "--output", "json"]);
        outcome.never_says("aHVudGVy");
        let plan = outcome.json();
        let actions = by_object(&plan);
        judged = pairs
            .iter()
            .zip(&truths)
            .map(|(pair, (here, moved))| {
                let key = key(&pair.base, pair.kind);
                let action = actions.get(&key).unwrap_or_else(|| panic!("no action on {key}\n{outcome}"));
                let case = Case { pair, here, moved, set };
                let version = action["live"]["resourceVersion"].as_str().unwrap_or_default();
                let (disagreements, class) = if case.is_comparable() {
                    (case.disagreements(action), class(action))
                } else {
                    (Vec::new(), NOT_COMPARABLE.to_owned())
                };
                Judged {
                    disagreements,
                    class,
                    is_accepted: moved.answer().is_ok() && action["problem"].is_null(),
                    is_settled: version == here.version(),
                }
            })
            .collect();
        if judged.iter().all(|judged| judged.is_settled) {
            break;
        }
    }
    judged
}

/// Asks about an object, and about the twin where ownership moves first: no dry-run shows both at once.
fn truths(scene: &Scene, pair: &Pair<'_>, set: &str) -> (Truth, Truth) {
    let here = Truth::ask(&scene.raw, pair.kind, &labelled(&pair.desired, set));
    let moved = if pair.migrates() {
        let uid = here.live.as_ref().and_then(|live| live["metadata"]["uid"].as_str()).unwrap_or_default();
        let told = Truth::ask(&scene.raw, pair.kind, &scene.twin_member(&pair.desired));
        told.map(|object| scene.untwinned(object, uid, set))
    } else {
        here.clone()
    };
    (here, moved)
}

/// Delivers what can be delivered, and compares with what kubectl made of the twin.
fn carry_out(scene: &mut Scene, pairs: &[Pair<'_>], judged: &[Judged], set: &str) -> Vec<String> {
    scene.take_from(&["keeper", "rival"]);
    let wanted = wanted(scene, pairs, judged, set);
    scene.commit(wanted.iter().map(|(_, object)| object));
    scene.world.configure(|settings| settings["timeouts"]["rollout"] = json!("5s"));
    let foreseen = scene.world.windlass(&["plan"]);
    let outcome = scene.world.windlass(&["run"]);
    // Some of the objects can never become ready: a claim of a class that does not exist.
    if !matches!(outcome.code, 0 | 8) {
        return vec![format!("what the server accepts is not delivered\n{outcome}")];
    }
    let twins: Vec<Value> = wanted.iter().map(|(_, object)| scene.twin_member(object)).collect();
    scene.kubectl_applies(&twins);
    let compare = |(pair, object): &(&Pair<'_>, Value)| {
        let look = || {
            let ours = scene.raw.get(&pair.kind.path(object)).body;
            let twin = scene.raw.get(&pair.kind.path(&scene.twin(object))).body;
            let uid = ours["metadata"]["uid"].as_str().unwrap_or_default();
            twin::differences(&ours, &scene.untwinned(&twin, uid, set))
        };
        let mut found = look();
        // Controllers write when they get to it.
        for _ in 0..20 {
            if found.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(250));
            found = look();
        }
        found.into_iter().map(|what| format!("run of {pair}\n    {what}")).collect::<Vec<_>>()
    };
    let mut wrong = each(&wanted, compare).concat();
    // The server stores a list that is declared as empty one apply after its last items went, and the plan said so.
    if foreseen.stdout.contains("is declared as an empty list") {
        scene.world.windlass(&["run"]);
    }
    let outcome = scene.world.windlass(&["plan", "--detailed-exitcode"]);
    if outcome.code != 0 {
        wrong.push(format!("what was delivered is planned again\n{outcome}"));
    }
    wrong
}

/// Returns what is delivered: what is wanted where the server accepts it, and what there was before where not. An
/// object of which neither can be applied goes.
fn wanted<'a>(
    scene: &Scene,
    pairs: &'a [Pair<'a>],
    judged: &[Judged],
    set: &str,
) -> Vec<(&'a Pair<'a>, Value)> {
    let both: Vec<(&Pair<'_>, &Judged)> = pairs.iter().zip(judged).collect();
    let choose = |(pair, judged): &(&'a Pair<'a>, &Judged)| {
        let accepts = |object: &Value| {
            let object = if pair.migrates() { scene.twin_member(object) } else { labelled(object, set) };
            apply(&scene.raw, pair.kind, &object, MANAGER, "force=true&dryRun=All").is_ok()
        };
        if judged.is_accepted || judged.class != NOT_COMPARABLE && accepts(&pair.desired) {
            return Some((*pair, pair.desired.clone()));
        }
        if pair.origin != generate::Origin::Absent && accepts(&pair.base) {
            return Some((*pair, pair.base.clone()));
        }
        for object in [&pair.base, &scene.twin(&pair.base)] {
            scene.raw.send("DELETE", &pair.kind.path(object), "application/json", &Value::Null);
        }
        None
    };
    each(&both, choose).into_iter().flatten().collect()
}

fn by_object(plan: &Value) -> BTreeMap<String, &Value> {
    let actions = plan["actions"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |object: &Value, key: &str| object[key].as_str().unwrap_or_default().to_owned();
    let key = |object: &Value| format!("{} {}", text(object, "kind"), text(object, "name"));
    actions.iter().map(|action| (key(&action["object"]), action)).collect()
}

/// Names an object as plans do; names are unique over both namespaces' objects of a kind.
fn key(object: &Value, kind: &Kind) -> String {
    let group = kind.api.split_once('/').map_or("", |(group, _)| group);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{}.{group}", kind.kind).trim_end_matches('.').to_owned() + " " + name
}
