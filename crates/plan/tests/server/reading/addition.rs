//! Fields that a commit adds.

use serde_json::{Value, json};

use super::dice::Dice;

/// Where a field may be added, by how the path of what holds it ends, and which: a list gets an item, a map a field. The
/// server refuses some of them in some kinds, and stores some of them not at all.
fn all() -> [(&'static str, &'static str, Value); 27] {
    [
        ("/metadata", "annotations", json!({"note": "new"})),
        ("/labels", "tier", json!("back")),
        ("/matchLabels", "tier", json!("back")),
        ("/data", "new", json!("bmV3")),
        ("/free", "new", json!({"deep": [1, 2]})),
        ("/spec", "minReadySeconds", json!(3)),
        ("/spec", "revisionHistoryLimit", json!(3)),
        ("/spec", "externalTrafficPolicy", json!("Cluster")),
        ("/spec", "size", json!(7)),
        ("/nodeSelector", "disk", json!("fast")),
        ("/template/spec", "terminationGracePeriodSeconds", json!(5)),
        ("/template/spec", "hostNetwork", json!(false)),
        ("/template/spec", "securityContext", json!({"runAsUser": 7})),
        (
            "/tolerations",
            "",
            json!({"key": "new", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}),
        ),
        ("/tolerations/0", "effect", json!("NoSchedule")),
        ("/volumes", "", json!({"name": "new", "emptyDir": {}})),
        ("/containers/0", "workingDir", json!("/srv")),
        ("/containers/0", "imagePullPolicy", json!("Never")),
        ("/containers/0", "tty", json!(false)),
        ("/containers/0/args", "", json!("--new")),
        ("/env", "", json!({"name": "NEW", "value": ""})),
        ("/requests", "ephemeral-storage", json!("1024Mi")),
        ("/tags", "", json!("new")),
        ("/parts", "", json!({"name": "new"})),
        ("/parts/0", "mode", json!("slow")),
        ("/verbs", "", json!("watch")),
        ("/subjects", "", json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "more"})),
    ]
}

/// Adds one field to an object; says what was done, unless the object has a place for none.
pub(super) fn add(object: &mut Value, dice: &mut Dice) -> Option<String> {
    let mut holders = Vec::new();
    collect(object, String::new(), &mut holders);
    let mut fitting = Vec::new();
    for (end, field, value) in all() {
        let here = holders.iter().filter(|holder| holder.ends_with(end));
        fitting.extend(here.map(|holder| (holder.clone(), field, value.clone())));
    }
    if fitting.is_empty() {
        return None;
    }
    let (holder, field, value) = dice.pick(&fitting).clone();
    let told = format!("{holder}/{field} added: {value}");
    match object.pointer_mut(&holder).unwrap() {
        Value::Array(list) => list.push(value),
        map => map[field] = value,
    }
    Some(told)
}

/// Returns where every map and list of an object is.
fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                collect(value, format!("{pointer}/{index}"), found);
            }
        }
        _ => return,
    }
    found.push(pointer);
}
