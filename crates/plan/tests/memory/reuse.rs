//! What is asked again and what is not.

use serde_json::{Value, json};
use windlass_bed::Says;

use crate::bed::{Bed, NAMESPACE, objects};
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

/// What a webhook goes by is in no configuration: it may say something else tomorrow. So it is always asked.
#[tokio::test]
async fn a_webhook_that_changes_its_mind_unseen_is_never_taken_at_its_old_word() {
    let (mut bed, desired) = Bed::with_objects().await;
    let stamped = |value: u32| {
        move |_: &Value| {
            let path = "/metadata/annotations";
            Says::patched(&json!([{"op": "add", "path": path, "value": {"stamp": value.to_string()}}]))
        }
    };
    let here = json!({"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}});
    let rules =
        json!([{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]);
    for (kind, resource, asked) in [("Mutating", "configmaps", 2), ("Mutating", "*/*", desired.len())] {
        let mut configuration = bed.hook.configuration(kind, "memory-hook", &[resource], &here);
        if resource == "*/*" {
            configuration["webhooks"][0]["rules"] = rules.clone();
        }
        bed.hook.answer_with(stamped(0));
        bed.configure(&configuration);
        bed.hook.reviews();
        while bed.hook.reviews().len() < asked {
            bed.deliver(&desired).await;
        }
        assert_eq!(bed.learn(&desired).await, desired.len() - asked, "{resource}");
        let quiet = bed.plan_remembering(&desired).await;
        assert!(changed(&quiet.plan).is_empty(), "{:?}", changed(&quiet.plan));
        for says in [1, 2] {
            bed.hook.answer_with(stamped(says));
            let (with, without) = (bed.plan_remembering(&desired).await, bed.plan_asking(&desired).await);
            assert_eq!(with.reused, desired.len() - asked, "{resource}");
            assert_eq!(with.plan["actions"], without.plan["actions"], "{resource} {says}");
            assert_eq!(changed(&with.plan).len(), asked, "{resource} {says}");
        }
        bed.hook.answer_with(|_| Says::no(409, "not today"));
        let (with, without) = (bed.plan_remembering(&desired).await, bed.plan_asking(&desired).await);
        assert_eq!(with.plan["actions"], without.plan["actions"], "{resource} denied");
        let actions = with.plan["actions"].as_array().unwrap();
        let denied = actions.iter().filter(|action| action["problem"].to_string().contains("memory-hook"));
        assert_eq!(denied.count(), asked, "{resource} denied");
    }
}

/// Returns the names of what is not left as it is.
fn changed(plan: &Value) -> Vec<&Value> {
    let actions = plan["actions"].as_array().into_iter().flatten();
    actions.filter(|action| action["operation"] != "no-op").map(|action| &action["object"]).collect()
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
