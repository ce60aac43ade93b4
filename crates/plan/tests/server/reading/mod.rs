//! What is foretold without asking, beside what the server answers: they agree, or differ where the documentation says so.

mod addition;
mod catalogue;
mod compare;
mod dice;
mod edit;
mod table;
mod words;

use serde_json::{Value, json};
use windlass_model::{Action, Operation, Plan};
use windlass_plan::BLIND_SPOTS;

use crate::bed::{Bed, served};
use compare::difference;
use dice::Dice;

/// Delivers one object of every kind of the catalogue, definitions first.
async fn delivered() -> (Bed, Vec<Value>) {
    let mut bed = Bed::new().await;
    let objects = catalogue::objects(&bed.namespace, &bed.suffix);
    bed.leftovers.extend(catalogue::without_namespace(&objects));
    let (definitions, _): (Vec<Value>, Vec<Value>) =
        objects.iter().cloned().partition(|object| object["kind"] == "CustomResourceDefinition");
    bed.deliver(&[("shop", &definitions)]).await;
    bed.cluster.forget_discovery().await;
    served(&bed, &catalogue::group(&bed.suffix), "Foo").await;
    bed.deliver(&[("shop", &objects)]).await;
    (bed, objects)
}

/// Plans by asking and by reading, of the same state of every object.
async fn both(bed: &mut Bed, objects: &[Value]) -> (Plan, Plan) {
    let asking = bed.cluster.clone();
    let versions = |plan: &Plan| {
        let seen = plan.actions.iter().map(|action| Some(action.live.as_ref()?.resource_version.clone()));
        seen.collect::<Vec<_>>()
    };
    loop {
        bed.cluster = asking.clone();
        let asked = bed.plan(&[("shop", objects)]).await;
        bed.cluster = asking.read_only();
        let read = bed.plan(&[("shop", objects)]).await;
        bed.cluster = asking.clone();
        // A controller may have written in between.
        if versions(&asked) == versions(&read) {
            return (asked, read);
        }
    }
}

/// Compares two plans of what is declared action by action, and returns the blind spots that explain the differences.
fn blind_spots(asked: &Plan, read: &Plan, desired: &[Value], context: &str) -> Vec<&'static str> {
    assert_eq!(asked.actions.len(), read.actions.len(), "{context}");
    let (mut names, mut unexplained) = (Vec::new(), Vec::new());
    for (asked, read) in asked.actions.iter().zip(&read.actions) {
        assert_eq!(asked.object, read.object, "{context}");
        let same = |body: &&Value| {
            body["kind"] == asked.object.kind.kind && body["metadata"]["name"] == asked.object.name
        };
        let body = desired.iter().find(same).unwrap_or(&Value::Null);
        match difference(asked, read, body) {
            Ok(found) => names.extend(found),
            Err(reason) => {
                let told = |action: &Action| {
                    let Action { operation, delta, problem, takes_over, .. } = action;
                    format!("{operation:?} {delta:?} {problem:?} {takes_over:?}")
                };
                let (asked_told, read_told) = (told(asked), told(read));
                unexplained
                    .push(format!("{}: {reason}\n  asked {asked_told}\n  read {read_told}", asked.object));
            }
        }
    }
    assert!(unexplained.is_empty(), "{context}\n{}", unexplained.join("\n"));
    for name in &names {
        assert!(BLIND_SPOTS.iter().any(|spot| spot.name == *name), "{name} is documented nowhere");
    }
    names
}

#[tokio::test]
async fn what_was_delivered_is_no_drift() {
    let (mut bed, objects) = delivered().await;
    let (asked, read) = both(&mut bed, &objects).await;
    assert_eq!(blind_spots(&asked, &read, &objects, "delivered"), Vec::<&str>::new());
    assert!(!read.has_drift(), "{read:#?}");
    assert!(BLIND_SPOTS.iter().all(|spot| read.warnings.contains(&spot.to_string())));
    assert!(BLIND_SPOTS.iter().all(|spot| !asked.warnings.contains(&spot.to_string())));
}

#[tokio::test]
async fn objects_of_a_namespace_that_comes_with_the_commit_are_not_tried_out_elsewhere() {
    let mut bed = Bed::new().await;
    bed.cluster = bed.cluster.read_only();
    let name = format!("coming-{}", bed.suffix);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let mut config = bed.config("a", &json!({"k": "v"}));
    config["metadata"]["namespace"] = json!(name);
    let plan = bed.plan(&[("shop", &[namespace, config])]).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::Create), "{plan:#?}");
    assert!(plan.is_executable(), "{plan:#?}");
}

#[expect(clippy::disallowed_methods, reason = "make soak says so in the environment")]
fn soaks() -> bool {
    std::env::var_os("WINDLASS_TEST_SOAK").is_some()
}

/// Edits the live objects and the commit by chance. In a short test chance is always the same.
#[tokio::test]
async fn edits_by_chance_are_seen_alike() {
    let (rounds, seed) = if soaks() { (300, rand::random()) } else { (9, 7) };
    let (mut bed, objects) = delivered().await;
    let mut dice = Dice::new(seed);
    let mut desired = objects.clone();
    let (mut compared, mut refused, mut explained) = (0, 0, 0);
    for round in 0..rounds {
        let mut told = vec![format!("seed {seed}, round {round}")];
        for _ in 0..6 {
            let object = dice.pick(&objects);
            told.extend(edit::live(&bed, object, &mut dice));
        }
        for _ in 0..4 {
            let position = dice.below(desired.len());
            told.push(edit::declared(&mut desired[position], &mut dice));
        }
        let (asked, read) = both(&mut bed, &desired).await;
        compared += asked.actions.len();
        let names = blind_spots(&asked, &read, &desired, &told.join("\n"));
        let refusals = names.iter().filter(|name| **name == "validation").count();
        refused += refusals;
        explained += names.len() - refusals;
        if round % 3 == 2 {
            desired.clone_from(&objects);
            edit::restore(&bed, &objects).await;
        }
    }
    let told =
        format!("of {compared} verdicts, {refused} are refusals and {explained} differ: what is compared?");
    assert!(refused * 5 < compared && explained * 10 < compared, "{told}");
}
