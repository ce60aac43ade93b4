//! Whether an identity that is meant to dry-run only can write for all that.
//!
//! Its rights are those of a delivery, and a ValidatingAdmissionPolicy on `request.dryRun` is its leash. Nothing but a real
//! write shows whether the leash holds, so two are sent that do no harm: one that changes nothing, and one that creates an
//! empty ConfigMap, which is deleted again.

use serde_json::json;
use windlass_cluster::{Cluster, ClusterError, Deleted, FailureKind, Propagation};
use windlass_model::{GroupKind, Object, ObjectRef};

use super::Finding;
use crate::session::Session;

/// Rights by which an identity could take its leash off, or act under another name: verbs, group and resource.
///
/// Policies apply to no object that configures admission, so a write of any of these is held back by none.
const ESCAPES: [(&[&str], &str, &str); 12] = [
    (&CHANGES, "admissionregistration.k8s.io", "validatingadmissionpolicies"),
    (&CHANGES, "admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    (&CHANGES, "admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    (&CHANGES, "admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
    (&CHANGES, "admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    (&CHANGES, "admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    (&["impersonate"], "authentication.k8s.io", "userextras"),
    (&["impersonate"], "authentication.k8s.io", "uids"),
    (&["impersonate"], "", "users"),
    (&["impersonate"], "", "groups"),
    (&["impersonate"], "", "serviceaccounts"),
    (&["create"], "", "serviceaccounts/token"),
];
const CHANGES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

/// What every answer but a policy's refusal calls for.
const REMEDY: &str = "apply pipeline/rbac/10-dry-run-only.yaml and name this identity in it";

/// Tries the leash.
pub(super) async fn try_out(session: &Session) -> Vec<Finding> {
    let (cluster, namespace) = (&session.cluster, session.settings.record.namespace.as_str());
    let mut findings = Vec::new();
    for (verbs, group, resource) in ESCAPES {
        findings.push(escape(cluster, verbs, group, resource).await);
    }
    match probe(session, namespace) {
        Ok(probe) => {
            findings.push(Finding::of("a dry-run is allowed", allowed(cluster.try_create(&probe).await)));
            findings.push(Finding::of("a real creation is refused", creation(cluster, &probe).await));
        }
        Err(reason) => findings.push(Finding::of("a real creation is refused", Err::<(), _>(reason))),
    }
    findings.push(Finding::of("a real change is refused", change(cluster, namespace).await));
    findings
}

/// Returns an object that nobody needs and nothing reads.
fn probe(session: &Session, namespace: &str) -> Result<Object, String> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("windlass-doctor-{}", session.run.as_str()),
            "namespace": namespace,
            "labels": {"app.kubernetes.io/part-of": "windlass"},
            "annotations": {"windlass.dev/purpose": "a write that must be refused; delete this object"},
        },
    });
    Object::new(body, None).map_err(|error| error.to_string())
}

async fn escape(cluster: &Cluster, verbs: &[&str], group: &str, resource: &str) -> Finding {
    let what = format!("no right to {} {resource}", verbs.join(", "));
    for verb in verbs {
        match cluster.may_on(verb, group, resource, None).await {
            Ok(false) => {}
            Ok(true) => {
                let problem =
                    format!("it may {verb} {resource}, and so escape the policy: take the right away");
                return Finding::of(what, Err::<(), _>(problem));
            }
            Err(error) => return Finding::of(what, Err::<(), _>(error.to_string())),
        }
    }
    Finding::of(what, Ok(()))
}

fn allowed<T>(answer: Result<T, ClusterError>) -> Result<(), String> {
    answer.map(drop).map_err(|error| format!("{error}; without dry-runs a refused write proves nothing"))
}

/// Sends a real creation. What it makes is deleted at once.
async fn creation(cluster: &Cluster, probe: &Object) -> Result<(), String> {
    let created = match cluster.create(probe).await {
        Ok(answer) => answer.object,
        // Without an answer it may be there all the same.
        Err(error) if error.may_have_landed() => match cluster.get(probe.reference()).await {
            Ok(Some(live)) => live,
            Ok(None) => return refused(&error),
            Err(_) => {
                let name = probe.reference();
                return Err(format!(
                    "whether {name} was created is not known, so look and delete it: {error}"
                ));
            }
        },
        Err(error) => return refused(&error),
    };
    let name = created.reference();
    let cleaned = match remove(cluster, &created).await {
        Ok(_) => "it is deleted again".to_owned(),
        Err(error) => format!("it could not be deleted again, so delete it yourself: {error}"),
    };
    Err(format!("THE WRITE WENT THROUGH: this identity really created {name}; {cleaned}; {REMEDY}"))
}

async fn remove(cluster: &Cluster, object: &Object) -> Result<Deleted, ClusterError> {
    let resource = cluster.resource_of(object.reference()).await?;
    cluster.delete(&resource, object, Propagation::Background, false).await
}

/// Sends a real change of the record namespace that changes nothing.
async fn change(cluster: &Cluster, namespace: &str) -> Result<(), String> {
    let reference = ObjectRef {
        kind: GroupKind::new("", "Namespace"),
        version: "v1".to_owned(),
        namespace: None,
        name: namespace.to_owned(),
    };
    let found = cluster.get(&reference).await.map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| format!("the namespace {namespace} does not exist"))?;
    match cluster.patch(&found, &json!([]), false).await {
        Ok(_) => Err(format!(
            "THE WRITE WENT THROUGH: this identity may really change {reference}; nothing was changed; {REMEDY}"
        )),
        Err(error) => refused(&error),
    }
}

/// Only a policy's refusal shows that the leash holds.
fn refused(error: &ClusterError) -> Result<(), String> {
    match error.failure().map(windlass_cluster::Failure::kind) {
        Some(FailureKind::Denied) => Ok(()),
        Some(FailureKind::Forbidden) => Err(format!(
            "refused for want of a right, not by a policy, so nothing is known about the policy: {error}"
        )),
        _ => Err(format!("neither carried out nor refused: {error}")),
    }
}
