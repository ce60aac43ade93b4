//! What is asked again and what is not.

use crate::bed::{Bed, objects};
use crate::changes::Change;

#[tokio::test]
async fn an_unchanged_cluster_is_asked_nothing_again() {
    let (mut bed, mut desired) = Bed::with_objects().await;
    let reused = bed.learn(&desired).await;
    assert_eq!(reused, desired.len());
    let mark = bed.mark();
    let planned = bed.plan_remembering(&desired).await;
    assert_eq!((planned.reused, planned.unusable), (desired.len(), None));
    let (requests, dry_runs) = bed.asked_since(mark);
    assert_eq!(dry_runs, 0, "an unchanged plan sends no dry-run");
    assert!(requests <= 40, "{requests} requests");

    // Without memory everything is asked. What is written never holds the password.
    let mark = bed.mark();
    bed.plan_asking(&desired).await;
    assert_eq!(bed.asked_since(mark).1, desired.len());
    let text = String::from_utf8(bed.memory.to_bytes()).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("aHVudGVyMg"), "{text}");

    // What changes is asked about, and only that.
    desired[0]["data"]["k"] = "2".into();
    let mark = bed.mark();
    let planned = bed.plan_remembering(&desired).await;
    assert_eq!((planned.reused, bed.asked_since(mark).1), (desired.len() - 1, 1));
    let actions = planned.plan["actions"].as_array().unwrap();
    let changed: Vec<_> = actions.iter().filter(|action| action["operation"] != "no-op").collect();
    assert_eq!((changed.len(), &changed[0]["operation"]), (1, &"update".into()));

    // In a namespace that does not exist, nothing is asked at all.
    for object in &mut desired {
        object["metadata"]["namespace"] = "nowhere".into();
    }
    let mark = bed.mark();
    bed.plan_asking(&desired).await;
    assert_eq!(bed.asked_since(mark).1, 0);
}

/// Another version may have other defaults, validation and admission.
#[tokio::test]
async fn what_another_version_of_the_server_said_counts_for_nothing() {
    let (mut bed, mut desired) = Bed::with_objects().await;
    assert_eq!(bed.learn(&desired).await, desired.len());
    Change::ServerVersion.make(&mut bed, &mut desired, 1).await;
    let planned = bed.plan_remembering(&desired).await;
    assert_eq!((planned.reused, planned.unusable), (0, None));
    assert_eq!(bed.learn(&desired).await, desired.len());
}

#[tokio::test]
async fn without_the_right_to_know_the_configuration_nothing_is_remembered() {
    let mut bed = Bed::up().await;
    let reader = bed.as_somebody_else().await;
    bed.cluster = reader;
    let planned = bed.plan_remembering(&objects()[..1]).await;
    assert!(planned.unusable.is_some_and(|reason| reason.contains("forbidden")));
    assert!(bed.memory.is_empty());
}
