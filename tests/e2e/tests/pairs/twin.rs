//! Whether two objects are the same, and owned by the same managers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_e2e::{difference, normalise};

/// Managers of the control plane, which write when they get to it.
const CONTROLLERS: [&str; 4] = [
    "kube-controller-manager",
    "kube-apiserver",
    "kube-scheduler",
    "api-priority-and-fairness-config-consumer-v1",
];

/// The note that kubectl keeps of its own applies, and the manager that owns it.
const NOTE: &str = "kubectl.kubernetes.io/last-applied-configuration";
const KEEPER_OF_THE_NOTE: &str = "kubectl-last-applied";

/// Returns in what an object differs from its twin, which stands under the same names.
pub(crate) fn differences(ours: &Value, twin: &Value) -> Vec<String> {
    let content = |object: &Value| {
        let mut object = normalise(object, "", "");
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.remove(NOTE);
        }
        object
    };
    let mut found = difference(&content(ours), &content(twin));
    let owners = |object: &Value| json!(owners(object));
    found.extend(difference(&owners(ours), &owners(twin)).into_iter().map(|place| format!("owners {place}")));
    found
}

/// Returns the fields that each manager owns.
fn owners(object: &Value) -> BTreeMap<String, Value> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut owners = BTreeMap::new();
    for entry in entries {
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        let manager = text("manager");
        if CONTROLLERS.contains(&manager) || manager == KEEPER_OF_THE_NOTE || text("subresource") == "status"
        {
            continue;
        }
        let name = [manager, text("operation"), text("subresource"), text("apiVersion")].join(" ");
        owners.insert(name, entry["fieldsV1"].clone());
    }
    owners
}
