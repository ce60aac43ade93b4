//! Gatekeeper: what template, constraint and webhook say about themselves, and the proof.
//!
//! Status is written by pods about themselves and stays when they die, so an entry counts only for a pod
//! that is alive and ready. Field names as of 3.23.

mod constraint;
mod plane;
mod template;

use serde_json::json;
use windlass_cluster::{Cluster, ClusterError, Selector};
use windlass_model::{GroupKind, Object};
use windlass_settings::{Constraint, Gatekeeper};

use crate::check::{Depth, Examined};
use crate::proof::{Signature, prove};
use crate::{Class, Finding};

/// Looks at one constraint and everything it depends on.
pub(crate) async fn examine(
    cluster: &Cluster,
    rules: &Gatekeeper,
    rule: &Constraint,
    depth: Depth,
) -> Result<Examined, ClusterError> {
    let title = format!("{} {}", rule.kind, rule.name);
    let plane = plane::read(cluster, rules).await?;
    let template = plane.template(&rule.kind);
    let constraint = match template {
        Some(_) => read(cluster, rule).await?,
        None => None,
    };
    let mut findings = plane.findings(&title);
    findings.extend(template::judge(&title, &rule.kind, template, plane.pods()));
    if template.is_some() {
        findings.extend(constraint::judge(&title, constraint.as_ref(), plane.pods()));
    }
    // What already says no need not be proved.
    if findings.is_empty() && depth == Depth::Proof {
        let name = template.map(|template| template.reference().name.clone()).unwrap_or_default();
        findings.extend(prove(cluster, &title, &rule.refuses, &signatures(rule, &name)).await?);
    }
    let spec = |object: Option<&Object>| object.map(|object| object.body()["spec"].clone());
    let specification = json!({"template": spec(template), "constraint": spec(constraint.as_ref())});
    Ok(Examined { title, findings, specification })
}

/// A CEL template makes a ValidatingAdmissionPolicy, whose refusal comes before the webhook's.
fn signatures(rule: &Constraint, template: &str) -> [Signature; 2] {
    let bindings = vec![
        format!("gatekeeper-{}-{}", rule.kind.to_lowercase(), rule.name),
        // As named before 3.23.
        format!("gatekeeper-{}", rule.name),
    ];
    [
        Signature::Constraint { name: rule.name.clone() },
        Signature::Policy { policy: format!("gatekeeper-{template}"), bindings },
    ]
}

async fn read(cluster: &Cluster, rule: &Constraint) -> Result<Option<Object>, ClusterError> {
    let kind = GroupKind::new("constraints.gatekeeper.sh", &rule.kind);
    match cluster.preferred(&kind).await {
        Ok(resource) => cluster.get_as(&resource, None, &rule.name).await,
        Err(ClusterError::UnknownKind { stale: false, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lists a kind; `None` if the cluster does not know it.
async fn list_all(
    cluster: &Cluster,
    kind: &GroupKind,
    namespace: Option<&str>,
) -> Result<Option<Vec<Object>>, ClusterError> {
    let resource = match cluster.preferred(kind).await {
        Ok(resource) => resource,
        Err(ClusterError::UnknownKind { stale: false, .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let listing = cluster.list(&resource, Selector { namespace, ..Selector::default() }).await?;
    Ok(Some(listing.objects))
}

/// Returns what is missing from `status.byPod` of a template or constraint: every live webhook pod must
/// have an entry about exactly this object in its present generation.
fn judge_by_pod<'a>(
    title: &str,
    what: &str,
    object: &'a Object,
    uid_field: &str,
    pods: &[String],
) -> (Vec<Finding>, Vec<&'a serde_json::Value>) {
    use crate::fields::{list, number, text};
    let mut findings = Vec::new();
    let mut current = Vec::new();
    for pod in pods {
        let entry = list(object.body(), "/status/byPod").iter().find(|entry| text(entry, "/id") == pod);
        let is_current = |entry: &&serde_json::Value| {
            number(entry, "/observedGeneration") == object.generation()
                && Some(text(entry, &format!("/{uid_field}"))) == object.uid()
        };
        match entry.filter(is_current) {
            Some(entry) => current.push(entry),
            None => findings.push(Finding::new(
                title,
                Class::Pending,
                format!("the webhook pod {pod} has not taken up {what} as it is now"),
            )),
        }
    }
    (findings, current)
}

/// Returns the errors that an entry of `status.byPod` tells.
fn errors_of(title: &str, what: &str, entry: &serde_json::Value) -> Vec<Finding> {
    use crate::fields::{list, text};
    let told = list(entry, "/errors").iter().map(|error| {
        let (pod, code, message) = (text(entry, "/id"), text(error, "/code"), text(error, "/message"));
        Finding::new(title, Class::Broken, format!("the pod {pod} cannot use {what}: {code}: {message}"))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_shapes_of_a_refusal_are_known() {
        let rule = Constraint { kind: "DenyRoot".into(), name: "no-root".into(), refuses: json!({}) };
        let [webhook, policy] = signatures(&rule, "denyroot");
        assert_eq!(webhook, Signature::Constraint { name: "no-root".into() });
        let bindings = vec!["gatekeeper-denyroot-no-root".into(), "gatekeeper-no-root".into()];
        assert_eq!(policy, Signature::Policy { policy: "gatekeeper-denyroot".into(), bindings });
    }
}
