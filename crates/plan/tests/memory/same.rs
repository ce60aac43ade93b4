//! A plan with memory says what a plan without says, whatever happened in between.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use crate::bed::{Bed, definition, objects, variable};
use crate::changes::{ALL, Change};

/// How many changes are made; `make soak` wants more.
fn rounds() -> u32 {
    if variable("WINDLASS_TEST_SOAK").is_some() { 500 } else { 14 }
}

/// Plans both ways until both say the same. The parts of a server act on a change one after the other, so two plans
/// may differ for a moment; what is remembered wrongly differs for ever.
async fn compare(bed: &mut Bed, desired: &[Value], history: &[String]) -> usize {
    let mut different = String::new();
    for _ in 0..40 {
        let with = bed.plan_remembering(desired).await;
        let without = bed.plan_asking(desired).await;
        let comparable =
            |plan: &Value| serde_json::json!([plan["actions"], plan["refusals"], plan["warnings"]]);
        let (left, right) = (comparable(&with.plan), comparable(&without.plan));
        if left == right {
            return with.reused;
        }
        different = format!("with memory: {left:#}\nwithout: {right:#}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("after {history:#?}\n{different}");
}

#[tokio::test]
async fn verdicts_with_memory_are_those_without_after_changes_at_random() {
    let mut bed = Bed::up().await;
    let seed = variable("WINDLASS_TEST_SEED").and_then(|text| text.parse().ok()).unwrap_or_else(rand::random);
    println!("WINDLASS_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    bed.configure(&definition(true, None));
    bed.kubectl(&["wait", "--for=condition=Established", "crd/widgets.memory.example"], "").unwrap();
    let mut desired = objects();
    bed.cluster.forget_discovery().await;
    bed.deliver(&desired).await;
    let mut reused = 0;
    let mut history = Vec::new();
    for _ in 0..rounds() {
        // What is remembered before the change is what may be wrong after it.
        bed.learn(&desired).await;
        for _ in 0..random.random_range(1..3) {
            let (change, choice) = (ALL[random.random_range(0..ALL.len())], random.random_range(0..6));
            history.push(format!("{change:?} {choice}"));
            change.make(&mut bed, &mut desired, choice).await;
        }
        reused += compare(&mut bed, &desired, &history).await;
    }
    bed.learn(&desired).await;
    reused += compare(&mut bed, &desired, &history).await;
    assert!(reused > 0, "the memory was never used, so nothing was proved");
}

/// Every kind of change that turns an unchanged object into something else must be noticed at once.
#[tokio::test]
async fn what_makes_a_difference_is_noticed() {
    let (mut bed, mut desired) = Bed::with_objects().await;
    bed.kubectl(&["label", "namespace", "memory", "judged=yes"], "").unwrap();
    Change::Parameter.make(&mut bed, &mut desired, 1).await;
    for (change, choice) in [
        (Change::Schema, 0),
        (Change::MutatingPolicy, 1),
        (Change::MutatingPolicy, 0),
        (Change::ValidatingPolicy, 1),
        (Change::Parameter, 2),
        (Change::LimitRange, 2),
        (Change::Webhook, 2),
        (Change::MutatingWebhook, 2),
        (Change::EditSecret, 1),
    ] {
        bed.learn(&desired).await;
        let before = bed.plan_asking(&desired).await.plan["actions"].clone();
        change.make(&mut bed, &mut desired, choice).await;
        let mut after = before.clone();
        for _ in 0..40 {
            compare(&mut bed, &desired, &[format!("{change:?} {choice}")]).await;
            after = bed.plan_remembering(&desired).await.plan["actions"].clone();
            if after != before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        assert_ne!(after, before, "{change:?} {choice} makes no difference, so it proves nothing");
    }
}
