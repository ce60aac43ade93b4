//! Changes of every sort, each with the blind spots that it meets.

use serde_json::{Value, json};
use windlass_model::{Action, Operation};

use super::{blind_spots, both, delivered};
use crate::bed::Bed;

/// What somebody does to the live object: kubectl's arguments before and after kind and name.
struct Deed<'a>(&'a [&'a str], &'a [&'a str]);

/// Compares the verdicts on one object after a deed and a change of the commit, and returns what was read of it.
async fn check(
    bed: &mut Bed,
    objects: &[Value],
    kind: &str,
    deed: Option<Deed<'_>>,
    change: impl Fn(&mut Value),
    spots: &[&str],
) -> Action {
    let mut desired = objects.to_vec();
    let position = desired.iter().position(|object| object["kind"] == kind).unwrap();
    if let Some(Deed(before, after)) = deed {
        let full = super::edit::kind_of(&desired[position]);
        bed.kubectl(&[&["-n", &bed.namespace], before, &[&full, "a"], after].concat(), "");
    }
    change(&mut desired[position]);
    let (asked, read) = both(bed, &desired).await;
    let met = blind_spots(&asked, &read, &format!("{kind} {}", desired[position]));
    assert_eq!(met, spots, "{kind} {}", desired[position]);
    let action = read.actions.iter().find(|action| action.object.kind.kind == kind).unwrap().clone();
    super::edit::restore(bed, &objects[position..=position]).await;
    action
}

/// A JSON patch that somebody sends.
fn patched<'a>(after: &'a [&'a str]) -> Deed<'a> {
    Deed(&["patch", "--type=json"], after)
}

#[tokio::test]
async fn changes_by_hand() {
    let (mut bed, objects) = delivered().await;
    let bed = &mut bed;
    let same = |_: &mut Value| {};
    let edit = "--field-manager=kubectl-edit";
    let operator = "--field-manager=some-operator";

    let patch = r#"[{"op":"replace","path":"/data/a","value":"9"}]"#;
    let action = check(bed, &objects, "ConfigMap", Some(patched(&[edit, "-p", patch])), same, &[]).await;
    assert_eq!(
        (action.operation, action.delta.len(), action.takes_over.len()),
        (Operation::Update, 1, 1),
        "{action:#?}"
    );

    let action = check(bed, &objects, "ConfigMap", Some(patched(&[operator, "-p", patch])), same, &[]).await;
    assert!(action.problem.is_some(), "a controller's field is a conflict: {action:#?}");

    let gone = r#"[{"op":"remove","path":"/data/b"}]"#;
    let action = check(bed, &objects, "ConfigMap", Some(patched(&[edit, "-p", gone])), same, &[]).await;
    assert_eq!(action.operation, Operation::Update, "{action:#?}");

    // Beside ours it is nobody's business, unless it was kubectl.
    let beside = r#"[{"op":"add","path":"/data/z","value":"1"}]"#;
    let action = check(bed, &objects, "ConfigMap", Some(patched(&[operator, "-p", beside])), same, &[]).await;
    assert_eq!(action.operation, Operation::NoOp, "{action:#?}");
    let action = check(
        bed,
        &objects,
        "Foo",
        Some(patched(&[edit, "-p", r#"[{"op":"add","path":"/spec/parts/-","value":{"name":"three"}}]"#])),
        same,
        &[],
    )
    .await;
    assert_eq!(action.operation, Operation::Update, "{action:#?}");

    // A list that is owned as a whole, an item of a set, a container beside ours, a key that goes.
    let toleration =
        r#"[{"op":"add","path":"/spec/template/spec/tolerations/0/effect","value":"NoSchedule"}]"#;
    let action =
        check(bed, &objects, "Deployment", Some(patched(&[edit, "-p", toleration])), same, &[]).await;
    assert_eq!(action.operation, Operation::Update, "{action:#?}");
    let tag = r#"[{"op":"remove","path":"/spec/tags/0"}]"#;
    let action = check(bed, &objects, "Foo", Some(patched(&[edit, "-p", tag])), same, &[]).await;
    assert_eq!(action.operation, Operation::Update, "{action:#?}");
    let container =
        r#"[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"extra","image":"x"}}]"#;
    let action =
        check(bed, &objects, "DaemonSet", Some(patched(&[operator, "-p", container])), same, &[]).await;
    assert_eq!(action.operation, Operation::NoOp, "{action:#?}");
    let port = r#"[{"op":"replace","path":"/spec/ports/1/port","value":54}]"#;
    let action =
        check(bed, &objects, "Service", Some(patched(&[operator, "-p", port])), same, &["validation"]).await;
    assert_eq!(action.operation, Operation::Update, "{action:#?}");
    let scaled = Some(Deed(&["scale", "--replicas=0"], &[]));
    let action = check(bed, &objects, "StatefulSet", scaled, same, &[]).await;
    assert_eq!(action.operation, Operation::NoOp, "{action:#?}");
    let gone = Some(Deed(&["delete"], &[]));
    assert_eq!(check(bed, &objects, "Role", gone, same, &[]).await.operation, Operation::Create);
}

#[tokio::test]
async fn changes_of_the_commit() {
    let (mut bed, objects) = delivered().await;
    let bed = &mut bed;
    let set = |pointer: &'static str, value: Value| {
        move |object: &mut Value| *object.pointer_mut(pointer).unwrap() = value.clone()
    };
    let without = |pointer: &'static str, key: &'static str| {
        move |object: &mut Value| {
            drop(object.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key));
        }
    };
    let main = "/spec/template/spec/containers/0";
    let quiet = |action: &Action| assert_eq!(action.operation, Operation::NoOp, "{action:#?}");
    let loud = |action: &Action| assert_eq!(action.operation, Operation::Update, "{action:#?}");

    // Other words for the same.
    let limits = "/spec/template/spec/containers/0/resources/limits/cpu";
    quiet(&check(bed, &objects, "Deployment", None, set(limits, json!("2000m")), &[]).await);
    quiet(
        &check(
            bed,
            &objects,
            "ResourceQuota",
            None,
            set("/spec/hard", json!({"requests.cpu": 90, "pods": "90"})),
            &[],
        )
        .await,
    );
    quiet(
        &check(bed, &objects, "PersistentVolume", None, set("/spec/capacity/storage", json!("1Gi")), &[])
            .await,
    );
    quiet(
        &check(
            bed,
            &objects,
            "HorizontalPodAutoscaler",
            None,
            set("/spec/metrics/0/resource/target/averageValue", json!("1")),
            &[],
        )
        .await,
    );
    loud(&check(bed, &objects, "ConfigMap", None, set("/data/b", json!("1")), &[]).await);
    loud(&check(bed, &objects, "Foo", None, set("/spec/cpu", json!("1")), &[]).await);
    // Real changes.
    loud(&check(bed, &objects, "Deployment", None, set(limits, json!("3")), &[]).await);
    loud(&check(bed, &objects, "Secret", None, set("/data/k", json!("aHVudGVyMw==")), &[]).await);
    loud(
        &check(
            bed,
            &objects,
            "Deployment",
            None,
            |object| object.pointer_mut(main).unwrap()["args"].as_array_mut().unwrap().reverse(),
            &[],
        )
        .await,
    );
    loud(
        &check(
            bed,
            &objects,
            "Deployment",
            None,
            |object| object.pointer_mut(main).unwrap()["env"].as_array_mut().unwrap().reverse(),
            &[],
        )
        .await,
    );
    loud(
        &check(
            bed,
            &objects,
            "Foo",
            None,
            |object| object["spec"]["parts"].as_array_mut().unwrap().truncate(1),
            &[],
        )
        .await,
    );
    loud(&check(bed, &objects, "Role", None, set("/rules/0/verbs", json!(["get"])), &[]).await);
    // What goes falls back to a default, or goes.
    loud(&check(bed, &objects, "Deployment", None, without("/spec", "replicas"), &["defaults"]).await);
    loud(&check(bed, &objects, "Foo", None, without("/spec", "size"), &["defaults"]).await);
    loud(&check(bed, &objects, "Foo", None, without("/spec", "cpu"), &[]).await);
    loud(&check(bed, &objects, "ConfigMap", None, without("/data", "b"), &[]).await);
    // What the server would refuse.
    loud(
        &check(
            bed,
            &objects,
            "StorageClass",
            None,
            set("/provisioner", json!("example.com/other")),
            &["validation"],
        )
        .await,
    );
    loud(&check(bed, &objects, "Foo", None, set("/spec/size", json!("many")), &["validation"]).await);
    // What goes out of a value that is owned as a whole looks like a default.
    quiet(
        &check(
            bed,
            &objects,
            "Deployment",
            None,
            without("/spec/template/spec/tolerations/0", "operator"),
            &["whole-values"],
        )
        .await,
    );
}
