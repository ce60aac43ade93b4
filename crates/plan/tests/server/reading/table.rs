//! Changes of every sort, each with the blind spots that it meets.

use serde_json::{Value, json};
use windlass_model::{Action, Operation};

use super::{blind_spots, both, delivered};
use crate::bed::Bed;

/// What somebody does to the live object: kubectl's arguments before and after kind and name.
struct Deed<'a>(Vec<&'a str>, Vec<&'a str>);

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
        bed.kubectl(&[&["-n", &bed.namespace], &before[..], &[&full, "a"], &after].concat(), "");
    }
    change(&mut desired[position]);
    let (asked, read) = both(bed, &desired).await;
    let met = blind_spots(&asked, &read, &desired, &format!("{kind} {}", desired[position]));
    assert_eq!(met, spots, "{kind} {}", desired[position]);
    let action = read.actions.iter().find(|action| action.object.kind.kind == kind).unwrap().clone();
    super::edit::restore(bed, &objects[position..=position]).await;
    action
}

/// A JSON patch that somebody sends, under the name of a field manager.
fn patched<'a>(manager: &'a str, patch: &'a str) -> Deed<'a> {
    Deed(vec!["patch", "--type=json"], vec![manager, "-p", patch])
}

#[tokio::test]
async fn changes_by_hand() {
    use Operation::{Create, NoOp, Update};
    let (mut bed, objects) = delivered().await;
    let same = |_: &mut Value| {};
    let edit = "--field-manager=kubectl-edit";
    let operator = "--field-manager=some-operator";

    let patch = r#"[{"op":"replace","path":"/data/a","value":"9"}]"#;
    let deed = patched(edit, patch);
    let action = check(&mut bed, &objects, "ConfigMap", Some(deed), same, &[]).await;
    let seen = (action.operation, action.delta.len(), action.takes_over.len());
    assert_eq!(seen, (Update, 1, 1), "{action:#?}");
    let deed = patched(operator, patch);
    let action = check(&mut bed, &objects, "ConfigMap", Some(deed), same, &[]).await;
    assert!(action.problem.is_some(), "a controller's field is a conflict: {action:#?}");

    let gone = r#"[{"op":"remove","path":"/data/b"}]"#;
    let beside = r#"[{"op":"add","path":"/data/z","value":"1"}]"#;
    let third = r#"[{"op":"add","path":"/spec/parts/-","value":{"name":"three"}}]"#;
    let effect = r#"[{"op":"add","path":"/spec/template/spec/tolerations/0/effect","value":"NoSchedule"}]"#;
    let tag = r#"[{"op":"remove","path":"/spec/tags/0"}]"#;
    let container =
        r#"[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"extra","image":"x"}}]"#;
    let port = r#"[{"op":"replace","path":"/spec/ports/1/port","value":54}]"#;
    let rows: [(&str, Deed<'_>, &[&str], Operation); 9] = [
        ("ConfigMap", patched(edit, gone), &[], Update),
        // Beside ours it is nobody's business, unless it was kubectl.
        ("ConfigMap", patched(operator, beside), &[], NoOp),
        ("Foo", patched(edit, third), &[], Update),
        // A list that is owned as a whole, an item of a set, a container beside ours, a key that goes.
        ("Deployment", patched(edit, effect), &[], Update),
        ("Foo", patched(edit, tag), &[], Update),
        ("DaemonSet", patched(operator, container), &[], NoOp),
        ("Service", patched(operator, port), &["validation"], Update),
        ("StatefulSet", Deed(vec!["scale", "--replicas=0"], vec![]), &[], NoOp),
        ("Role", Deed(vec!["delete"], vec![]), &[], Create),
    ];
    for (kind, deed, spots, operation) in rows {
        let action = check(&mut bed, &objects, kind, Some(deed), same, spots).await;
        assert_eq!(action.operation, operation, "{action:#?}");
    }
}

/// A change of what is declared.
type Change = Box<dyn Fn(&mut Value)>;

/// Puts a value where another is.
fn set(pointer: &'static str, value: Value) -> Change {
    Box::new(move |object| *object.pointer_mut(pointer).unwrap() = value.clone())
}

/// Adds a field to a map, or an item to a list.
fn with(pointer: &'static str, field: &'static str, value: Value) -> Change {
    Box::new(move |object| match object.pointer_mut(pointer).unwrap() {
        Value::Array(list) => list.push(value.clone()),
        map => map[field] = value.clone(),
    })
}

fn without(pointer: &'static str, field: &'static str) -> Change {
    Box::new(move |object| {
        drop(object.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(field));
    })
}

/// Changes the order of a list.
fn turned(pointer: &'static str) -> Change {
    Box::new(move |object| object.pointer_mut(pointer).unwrap().as_array_mut().unwrap().reverse())
}

#[tokio::test]
async fn changes_of_the_commit() {
    use Operation::{NoOp, Update};
    let (mut bed, objects) = delivered().await;
    let pod = "/spec/template/spec";
    let main = "/spec/template/spec/containers/0";
    let limits = "/spec/template/spec/containers/0/resources/limits/cpu";
    let average = "/spec/metrics/0/resource/target/averageValue";
    let toleration = json!({"key": "new", "effect": "NoExecute", "tolerationSeconds": 0});
    let rows: [(&str, Change, &[&str], Operation); 31] = [
        // Other words for the same.
        ("Deployment", set(limits, json!("2000m")), &[], NoOp),
        ("ResourceQuota", set("/spec/hard", json!({"requests.cpu": 90, "pods": "90"})), &[], NoOp),
        ("PersistentVolume", set("/spec/capacity/storage", json!("1Gi")), &[], NoOp),
        ("HorizontalPodAutoscaler", set(average, json!("1")), &[], NoOp),
        ("ConfigMap", set("/data/b", json!("1")), &[], Update),
        ("Foo", set("/spec/cpu", json!("1")), &[], Update),
        // Real changes.
        ("Deployment", set(limits, json!("3")), &[], Update),
        ("Secret", set("/data/k", json!("aHVudGVyMw==")), &[], Update),
        ("Deployment", turned("/spec/template/spec/containers/0/args"), &[], Update),
        ("Deployment", turned("/spec/template/spec/containers/0/env"), &[], Update),
        ("Foo", set("/spec/parts", json!([{"name": "one", "value": 1}])), &[], Update),
        ("Role", set("/rules/0/verbs", json!(["get"])), &[], Update),
        // What is added, alone or with what the server fills in.
        ("ConfigMap", with("/data", "new", json!("")), &[], Update),
        ("Deployment", with(main, "workingDir", json!("/srv")), &[], Update),
        ("Deployment", with("/spec/template/spec/containers/0/env", "", json!({"name": "NEW"})), &[], Update),
        ("DaemonSet", with("/spec/template/spec/tolerations", "", toleration), &["defaults"], Update),
        (
            "DaemonSet",
            with("/spec/template/spec/nodeSelector", "role/worker", json!("")),
            &["defaults"],
            Update,
        ),
        ("NetworkPolicy", with("/spec/ingress/0/from/0", "namespaceSelector", json!({})), &[], Update),
        ("Role", with("/rules/0", "resourceNames", json!([])), &[], NoOp),
        (
            "DaemonSet",
            with("/spec/template/spec/tolerations/0", "tolerationSeconds", json!(0)),
            &["validation"],
            Update,
        ),
        ("Foo", with("/spec/parts", "", json!({"name": "three"})), &["defaults"], Update),
        ("Foo", with("/spec/free", "deep", json!({"a": null, "b": [0]})), &[], Update),
        ("Role", with("/rules/0", "resourceNames", json!(["one"])), &[], Update),
        ("Deployment", with(pod, "hostNetwork", json!(false)), &["spelling"], Update),
        // What goes falls back to a default, or goes.
        ("Deployment", without("/spec", "replicas"), &["defaults"], Update),
        ("Foo", without("/spec", "size"), &["defaults"], Update),
        ("Foo", without("/spec", "cpu"), &[], Update),
        ("ConfigMap", without("/data", "b"), &[], Update),
        // What the server would refuse.
        ("StorageClass", set("/provisioner", json!("example.com/other")), &["validation"], Update),
        ("Foo", set("/spec/size", json!("many")), &["validation"], Update),
        // What goes out of a value that is owned as a whole looks like a default.
        ("Deployment", without("/spec/template/spec/tolerations/0", "operator"), &["whole-values"], NoOp),
    ];
    for (kind, change, spots, operation) in rows {
        let action = check(&mut bed, &objects, kind, None, change, spots).await;
        assert_eq!(action.operation, operation, "{action:#?}");
    }
}
