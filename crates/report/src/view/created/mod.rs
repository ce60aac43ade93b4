//! What a new object is, in a line: a first delivery would otherwise be a list of names.

mod access;
mod defined;

use serde_json::Value;
use windlass_model::{Action, Operation};

use super::line::{Line, Tone};
use crate::actions::plural;
use crate::clean;

/// How many lines of a new object stand beside its name where it is counted among the dangers.
const OPENED: usize = 3;
/// How many keys are named before they are only counted.
const KEYS: usize = 8;

/// Describes the object that an action creates.
pub(super) fn lines(action: &Action) -> Vec<Line> {
    let after = action.bodies.after.as_ref().filter(|_| action.operation == Operation::Create);
    let Some(body) = after.map(windlass_model::Shown::body) else { return Vec::new() };
    let plain = |text: String| vec![Line::new(Tone::Plain, text)];
    match action.object.kind.to_string().as_str() {
        "Deployment.apps" | "StatefulSet.apps" | "ReplicaSet.apps" => {
            let pods = body["spec"]["replicas"].as_u64().unwrap_or(1);
            let starts = format!(
                "starts {pods} pod{}: {}",
                if pods == 1 { "" } else { "s" },
                images(&body["spec"]["template"])
            );
            all(std::iter::once(starts).chain(claims(&body)).collect())
        }
        "DaemonSet.apps" => {
            plain(format!("starts a pod on every node: {}", images(&body["spec"]["template"])))
        }
        "Job.batch" | "CronJob.batch" if body["spec"]["suspend"] == true => {
            plain("suspended: starts nothing".to_owned())
        }
        "Job.batch" => plain(format!("starts a job: {}", images(&body["spec"]["template"]))),
        "CronJob.batch" => {
            let template = &body["spec"]["jobTemplate"]["spec"]["template"];
            plain(format!("at {}: {}", text(&body["spec"]["schedule"]), images(template)))
        }
        "Pod" => plain(format!("starts a pod: {}", images(&body))),
        "Service" => service(&body),
        "PersistentVolumeClaim" => {
            let size = text(&body["spec"]["resources"]["requests"]["storage"]);
            let class =
                body["spec"]["storageClassName"].as_str().map(|class| format!(" of the class {class}"));
            plain(format!("asks for {size}{}", class.unwrap_or_default()))
        }
        "ConfigMap" | "Secret" => keys(&body),
        "Role.rbac.authorization.k8s.io" | "ClusterRole.rbac.authorization.k8s.io" => {
            all(access::role(&body))
        }
        "RoleBinding.rbac.authorization.k8s.io" | "ClusterRoleBinding.rbac.authorization.k8s.io" => {
            all(access::binding(&body))
        }
        "NetworkPolicy.networking.k8s.io" => all(access::network(&body)),
        "CustomResourceDefinition.apiextensions.k8s.io" => plain(defined::definition(&body)),
        "StorageClass.storage.k8s.io" => plain(defined::storage_class(&body)),
        "PriorityClass.scheduling.k8s.io" => plain(defined::priority_class(&body)),
        "PodDisruptionBudget.policy" => plain(defined::budget(&body)),
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io"
        | "MutatingWebhookConfiguration.admissionregistration.k8s.io" => all(defined::webhooks(&body)),
        _ => Vec::new(),
    }
}

/// Says in a few words what a new object opens or allows.
pub(super) fn opened(action: &Action) -> Option<String> {
    let told: Vec<String> = lines(action).iter().take(OPENED).map(|line| line.text().to_owned()).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn all(texts: Vec<String>) -> Vec<Line> {
    texts.into_iter().map(|text| Line::new(Tone::Plain, text)).collect()
}

/// What each pod of a StatefulSet claims: whoever deletes the set later may not find it in Git.
fn claims(set: &Value) -> Option<String> {
    let templates = set["spec"]["volumeClaimTemplates"].as_array()?;
    let each = templates.iter().map(|claim| {
        format!(
            "{} {}",
            text(&claim["metadata"]["name"]),
            text(&claim["spec"]["resources"]["requests"]["storage"])
        )
    });
    Some(format!("each of its pods claims {}", each.collect::<Vec<_>>().join(", ")))
}

fn images(template: &Value) -> String {
    let containers = ["initContainers", "containers"];
    let all = containers.iter().filter_map(|list| template["spec"][list].as_array()).flatten();
    let images: Vec<String> =
        all.map(|container| format!("{} {}", text(&container["name"]), text(&container["image"]))).collect();
    images.join(", ")
}

/// What is reachable from outside the cluster is worth a look.
fn service(body: &Value) -> Vec<Line> {
    let kind = match body["spec"]["type"].as_str() {
        Some(kind @ ("LoadBalancer" | "NodePort")) => kind,
        _ if body["spec"]["externalIPs"].as_array().is_some_and(|list| !list.is_empty()) => "externalIPs",
        _ => return Vec::new(),
    };
    let ports = body["spec"]["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
    let numbers: Vec<String> = ports.iter().map(|port| port["port"].to_string()).collect();
    let text = format!(
        "reachable from outside the cluster ({kind}): port{} {}",
        plural(ports.len()),
        numbers.join(", ")
    );
    vec![Line::new(Tone::Warning, text)]
}

fn keys(body: &Value) -> Vec<Line> {
    let maps = ["data", "binaryData", "stringData"];
    let keys: Vec<&String> =
        maps.iter().filter_map(|map| body[map].as_object()).flat_map(|map| map.keys()).collect();
    if keys.is_empty() {
        return Vec::new();
    }
    let named: Vec<String> = keys.iter().take(KEYS).map(|key| clean(key)).collect();
    let more = match keys.len().saturating_sub(KEYS) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    vec![Line::new(Tone::Plain, format!("holds {}{more}", named.join(", ")))]
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{Bodies, Object, Shown, UnitName};

    use super::*;

    fn check(kind: &str, version: &str, content: Value, want: &[&str]) {
        let mut body = content;
        body["apiVersion"] = json!(version);
        body["kind"] = json!(kind);
        body["metadata"] = json!({"name": "a", "namespace": "b"});
        let object = Object::new(body, None).unwrap();
        let bodies = Bodies { before: None, after: Some(Shown::of(&object)) };
        let unit = UnitName::new("shop").unwrap();
        let action = |operation| Action {
            bodies: bodies.clone(),
            ..Action::new(unit.clone(), object.reference().clone(), operation)
        };
        let texts: Vec<String> =
            lines(&action(Operation::Create)).iter().map(|line| line.text().to_owned()).collect();
        assert_eq!(texts, want, "{kind}");
        assert!(lines(&action(Operation::Update)).is_empty(), "what changes says its fields");
    }

    #[test]
    fn a_new_object_says_what_it_starts_opens_and_holds() {
        let pod = json!({"spec": {
            "initContainers": [{"name": "init", "image": "tools:1"}], "containers": [{"name": "db", "image": "db:17"}]}});
        let all = "init tools:1, db db:17";
        let template = json!({"spec": {"template": pod}});
        check(
            "StatefulSet",
            "apps/v1",
            json!({"spec": {"replicas": 3, "template": pod, "volumeClaimTemplates": [
                {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "8Gi"}}}}]}}),
            &[&format!("starts 3 pods: {all}"), "each of its pods claims data 8Gi"],
        );
        check("Deployment", "apps/v1", template.clone(), &[&format!("starts 1 pod: {all}")]);
        check("DaemonSet", "apps/v1", template.clone(), &[&format!("starts a pod on every node: {all}")]);
        check("Job", "batch/v1", template.clone(), &[&format!("starts a job: {all}")]);
        check("Pod", "v1", pod, &[&format!("starts a pod: {all}")]);
        let job = json!({"spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": template["spec"]}}});
        check("CronJob", "batch/v1", job, &[&format!("at 0 3 * * *: {all}")]);
        let service = |kind: &str| json!({"spec": {"type": kind, "ports": [{"port": 5432}, {"port": 80}]}});
        check(
            "Service",
            "v1",
            service("LoadBalancer"),
            &["reachable from outside the cluster (LoadBalancer): ports 5432, 80"],
        );
        check("Service", "v1", service("ClusterIP"), &[]);
        let addressed = json!({"spec": {"externalIPs": ["192.0.2.1"], "ports": [{"port": 80}]}});
        check("Service", "v1", addressed, &["reachable from outside the cluster (externalIPs): port 80"]);
        let claim =
            json!({"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "5Gi"}}}});
        check("PersistentVolumeClaim", "v1", claim, &["asks for 5Gi of the class fast"]);
        check("ConfigMap", "v1", json!({"data": {"b": "1", "a": "2"}}), &["holds a, b"]);
        check("Secret", "v1", json!({"data": {"password": "aHVudGVyMg=="}}), &["holds password"]);
        check("ConfigMap", "v1", json!({}), &[]);
    }
}
