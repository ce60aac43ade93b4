//! What a new object defines for others: kinds, classes, budgets, webhooks.

use serde_json::Value;

use super::text;
use crate::clean;

/// Says which kind a CustomResourceDefinition brings, where it lives and in which versions it is served.
pub(super) fn definition(body: &Value) -> String {
    let spec = &body["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served: Vec<String> = versions
        .filter(|version| version["served"] == true)
        .map(|version| {
            let stored = if version["storage"] == true { " (stored)" } else { "" };
            format!("{}{stored}", clean(text(&version["name"])))
        })
        .collect();
    let place = if spec["scope"] == "Cluster" { "in no namespace" } else { "in namespaces" };
    let kind = format!("{}.{}", clean(text(&spec["names"]["kind"])), clean(text(&spec["group"])));
    format!("defines {kind}, which lives {place}, served as {}", served.join(", "))
}

/// Says what becomes of volumes of a StorageClass.
pub(super) fn storage_class(body: &Value) -> String {
    let policy = body["reclaimPolicy"].as_str().unwrap_or("Delete");
    let fate = if policy == "Retain" { "stay when their claim goes" } else { "go with their claim" };
    let default = body["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true";
    let default = if default { ", the default class" } else { "" };
    let grow = if body["allowVolumeExpansion"] == true { "can grow" } else { "cannot grow" };
    format!(
        "volumes by {}{default}: they {fate} (reclaimPolicy {}) and {grow}",
        clean(text(&body["provisioner"])),
        clean(policy)
    )
}

/// Says how important pods of a PriorityClass are.
pub(super) fn priority_class(body: &Value) -> String {
    let default = if body["globalDefault"] == true { ", for all pods that name no class" } else { "" };
    let evicts =
        if body["preemptionPolicy"] == "Never" { "without evicting others" } else { "evicting lesser pods" };
    format!("priority {}, {evicts}{default}", body["value"])
}

/// Says how many pods a PodDisruptionBudget lets go at once.
pub(super) fn budget(body: &Value) -> String {
    let spec = &body["spec"];
    let number = |field: &str| match &spec[field] {
        Value::Null => None,
        Value::String(text) => Some(format!("{} of the pods", clean(text))),
        number => Some(format!("{number} pod{}", if number == 1 { "" } else { "s" })),
    };
    match (number("maxUnavailable"), number("minAvailable")) {
        (Some(most), _) => format!("an eviction leaves at most {most} unavailable"),
        (None, Some(least)) => format!("an eviction leaves at least {least} available"),
        (None, None) => "an eviction leaves at least 1 pod available".to_owned(),
    }
}

/// Says of each webhook what it is asked about, and what happens when it does not answer.
pub(super) fn webhooks(body: &Value) -> Vec<String> {
    let hooks = body["webhooks"].as_array().into_iter().flatten();
    hooks
        .map(|hook| {
            let rules = hook["rules"].as_array().into_iter().flatten();
            let about: Vec<String> = rules
                .map(|rule| format!("{} of {}", list(&rule["operations"]), list(&rule["resources"])))
                .collect();
            let service = &hook["clientConfig"]["service"];
            let whom = match hook["clientConfig"]["url"].as_str() {
                Some(url) => clean(url),
                None => format!(
                    "Service {}/{}",
                    clean(text(&service["namespace"])),
                    clean(text(&service["name"]))
                ),
            };
            let silent = if hook["failurePolicy"] == "Ignore" { "passes" } else { "is refused" };
            format!("asks {whom} about {}; what it does not answer {silent}", about.join(", "))
        })
        .collect()
}

fn list(value: &Value) -> String {
    let names: Vec<String> = value.as_array().into_iter().flatten().map(|name| clean(text(name))).collect();
    if names == ["*"] { "everything".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_defined() {
        let versions = json!([{"name": "v1", "served": true, "storage": true}, {"name": "v1beta1", "served": true, "storage": false},
            {"name": "v1alpha1", "served": false, "storage": false}]);
        let spec = json!({"group": "db.dev", "scope": "Namespaced", "names": {"kind": "Database"}, "versions": versions});
        assert_eq!(
            definition(&json!({"spec": spec})),
            "defines Database.db.dev, which lives in namespaces, served as v1 (stored), v1beta1"
        );
        assert_eq!(
            storage_class(
                &json!({"provisioner": "csi.dev", "reclaimPolicy": "Retain", "allowVolumeExpansion": true})
            ),
            "volumes by csi.dev: they stay when their claim goes (reclaimPolicy Retain) and can grow"
        );
        let default = json!({"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}});
        assert_eq!(
            storage_class(&json!({"provisioner": "csi.dev", "metadata": default})),
            "volumes by csi.dev, the default class: they go with their claim (reclaimPolicy Delete) and cannot grow"
        );
        assert_eq!(priority_class(&json!({"value": 1000})), "priority 1000, evicting lesser pods");
        assert_eq!(
            priority_class(&json!({"value": -1, "preemptionPolicy": "Never", "globalDefault": true})),
            "priority -1, without evicting others, for all pods that name no class"
        );
        let budget = |spec: Value| budget(&json!({"spec": spec}));
        assert_eq!(budget(json!({"maxUnavailable": 1})), "an eviction leaves at most 1 pod unavailable");
        assert_eq!(
            budget(json!({"minAvailable": "50%"})),
            "an eviction leaves at least 50% of the pods available"
        );
        let hook = json!({"clientConfig": {"service": {"namespace": "ops", "name": "hook"}}, "failurePolicy": "Fail",
            "rules": [{"operations": ["CREATE", "UPDATE"], "resources": ["pods"]}, {"operations": ["*"], "resources": ["*"]}]});
        assert_eq!(
            webhooks(&json!({"webhooks": [hook]})),
            [
                "asks Service ops/hook about CREATE, UPDATE of pods, everything of everything; what it does not answer is refused"
            ]
        );
    }
}
