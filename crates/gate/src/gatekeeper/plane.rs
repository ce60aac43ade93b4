//! The webhook and the pods that answer for it.

use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{GroupKind, Object};
use windlass_settings::Gatekeeper;

use super::list_all;
use crate::fields::{list, text};
use crate::{Class, Finding};

const WEBHOOK: &str = "validation.gatekeeper.sh";

/// What all constraints depend on.
#[derive(Debug, Default)]
pub(super) struct Plane {
    templates: Option<Vec<Object>>,
    pods: Vec<String>,
    problems: Vec<(Class, String)>,
}

/// Reads what all constraints depend on.
pub(super) async fn read(cluster: &Cluster, rules: &Gatekeeper) -> Result<Plane, ClusterError> {
    let templates = GroupKind::new("templates.gatekeeper.sh", "ConstraintTemplate");
    let webhooks = GroupKind::new("admissionregistration.k8s.io", "ValidatingWebhookConfiguration");
    let templates = list_all(cluster, &templates, None).await?;
    let pods = list_all(cluster, &GroupKind::new("", "Pod"), Some(&rules.namespace)).await?;
    let webhooks = list_all(cluster, &webhooks, None).await?;
    Ok(Plane::new(&rules.namespace, templates, &pods.unwrap_or_default(), &webhooks.unwrap_or_default()))
}

impl Plane {
    fn new(namespace: &str, templates: Option<Vec<Object>>, pods: &[Object], webhooks: &[Object]) -> Self {
        let mut problems = Vec::new();
        if templates.is_none() {
            problems.push((
                Class::Missing,
                "Gatekeeper is not installed: the cluster knows no ConstraintTemplate".to_owned(),
            ));
        }
        let pods: Vec<String> =
            pods.iter().filter(|pod| is_live_webhook(pod)).map(|pod| pod.reference().name.clone()).collect();
        if pods.is_empty() {
            problems.push((
                Class::Broken,
                format!("no webhook pod of Gatekeeper is ready in the namespace {namespace}"),
            ));
        }
        problems.extend(webhook_problem(webhooks));
        Self { templates, pods, problems }
    }

    /// Returns the names of the webhook pods that are alive and ready.
    pub(super) fn pods(&self) -> &[String] {
        &self.pods
    }

    /// Returns the template that defines a kind of constraint.
    pub(super) fn template(&self, kind: &str) -> Option<&Object> {
        self.templates
            .as_ref()?
            .iter()
            .find(|template| text(template.body(), "/spec/crd/spec/names/kind") == kind)
    }

    pub(super) fn findings(&self, title: &str) -> Vec<Finding> {
        self.problems.iter().map(|(class, message)| Finding::new(title, *class, message)).collect()
    }
}

/// The stock manifest labels webhook pods twice; forks keep at least one of the labels.
fn is_live_webhook(pod: &Object) -> bool {
    let labelled = pod.label("gatekeeper.sh/operation") == Some("webhook")
        || pod.label("control-plane") == Some("controller-manager");
    let ready = list(pod.body(), "/status/conditions")
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    labelled && ready && !pod.is_terminating()
}

/// Without a certificate the API server cannot call the webhook at all.
fn webhook_problem(configurations: &[Object]) -> Option<(Class, String)> {
    let mut webhooks = configurations
        .iter()
        .flat_map(|configuration| list(configuration.body(), "/webhooks"))
        .filter(|webhook| webhook["name"] == WEBHOOK)
        .peekable();
    if webhooks.peek().is_none() {
        return Some((Class::Missing, format!("the webhook {WEBHOOK} is not configured")));
    }
    let callable = webhooks.any(|webhook| !text(webhook, "/clientConfig/caBundle").is_empty());
    (!callable).then(|| (Class::Broken, format!("the webhook {WEBHOOK} has no certificate to call it with")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn pod(label: (&str, &str), ready: &str, metadata: Value) -> Object {
        let mut body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "status": {"conditions": [{"type": "Ready", "status": ready}]}});
        body["metadata"]["name"] = json!("p");
        body["metadata"]["labels"][label.0] = json!(label.1);
        Object::new(body, None).unwrap()
    }

    #[test]
    fn only_live_webhook_pods_count() {
        let check = |pod: Object, want: bool| assert_eq!(is_live_webhook(&pod), want);
        check(pod(("gatekeeper.sh/operation", "webhook"), "True", json!({})), true);
        check(pod(("control-plane", "controller-manager"), "True", json!({})), true);
        check(pod(("gatekeeper.sh/operation", "webhook"), "False", json!({})), false);
        check(pod(("gatekeeper.sh/operation", "audit"), "True", json!({})), false);
        let going = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        check(pod(("gatekeeper.sh/operation", "webhook"), "True", going), false);
    }

    #[test]
    fn the_webhook_must_be_callable() {
        let configuration = |webhook: Value| {
            let body = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "gatekeeper"}, "webhooks": [webhook]});
            Object::new(body, None).unwrap()
        };
        let check = |webhook: Value, want: Option<Class>| {
            assert_eq!(webhook_problem(&[configuration(webhook)]).map(|(class, _)| class), want);
        };
        check(json!({"name": WEBHOOK, "clientConfig": {"caBundle": "Cg=="}}), None);
        check(json!({"name": WEBHOOK, "clientConfig": {}}), Some(Class::Broken));
        check(
            json!({"name": "check-ignore-label.gatekeeper.sh", "clientConfig": {"caBundle": "Cg=="}}),
            Some(Class::Missing),
        );
    }

    #[test]
    fn nothing_installed() {
        let classes: Vec<Class> =
            Plane::new("gatekeeper-system", None, &[], &[]).findings("x").iter().map(|f| f.class).collect();
        assert_eq!(classes, [Class::Missing, Class::Broken, Class::Missing]);
    }
}
