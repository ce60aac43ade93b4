//! The only proof of enforcement: an object that must be refused is refused, by the right policy.

use serde_json::Value;
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{Object, is_secret_kind};

use crate::{Class, Finding};

/// Which words show that a certain policy refused an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signature {
    /// The policy and the names that its binding may have.
    Policy { policy: String, bindings: Vec<String> },
    /// The constraint, in a denial by Gatekeeper's webhook.
    Constraint { name: String },
}

impl Signature {
    /// Says whether a refusal bears the signature.
    fn is_on(&self, message: &str) -> bool {
        match self {
            Self::Policy { policy, bindings } => bindings.iter().any(|binding| {
                let words =
                    format!("ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request");
                message.contains(&words)
            }),
            // Several violations come one a line, each with the constraint's name before it.
            Self::Constraint { name } => {
                let webhook = "admission webhook \"validation.gatekeeper.sh\" denied the request: ";
                let mark = format!("[{name}] ");
                message
                    .split_once(webhook)
                    .is_some_and(|(_, denials)| denials.lines().any(|line| line.starts_with(&mark)))
            }
        }
    }
}

/// Sends the object that `policy` must refuse as a dry-run; `None` if it was refused with one of the
/// signatures.
///
/// # Errors
/// The server did not answer, so that asking about other policies is useless too.
pub(crate) async fn prove(
    cluster: &Cluster,
    policy: &str,
    refuses: &Value,
    signatures: &[Signature],
) -> Result<Option<Finding>, ClusterError> {
    let object = match Object::new(refuses.clone(), None) {
        Ok(object) => object,
        Err(error) => {
            return Ok(Some(Finding::new(
                policy,
                Class::Unknown,
                format!("`refuses` cannot be sent: {error}"),
            )));
        }
    };
    let error = cluster.try_create(&object).await.err();
    judge(policy, &object, error, signatures)
}

/// Judges the answer to the dry-run: `None` for an answer that is no error.
fn judge(
    policy: &str,
    object: &Object,
    error: Option<ClusterError>,
    signatures: &[Signature],
) -> Result<Option<Finding>, ClusterError> {
    let Some(error) = error else {
        let message =
            format!("{} was admitted in a dry-run, although it must be refused", object.reference());
        return Ok(Some(Finding::new(policy, Class::NotEnforced, message)));
    };
    let Some(failure) = error.failure() else {
        return match error {
            ClusterError::UnknownKind { stale: false, .. } => {
                Ok(Some(Finding::new(policy, Class::Unknown, format!("`refuses` cannot be sent: {error}"))))
            }
            error => Err(error),
        };
    };
    let is_refusal = matches!(failure.code, 403 | 422);
    if is_refusal && signatures.iter().any(|signature| signature.is_on(&failure.message)) {
        return Ok(None);
    }
    if !is_refusal && failure.is_transient() {
        return Err(error);
    }
    let shown = if is_secret_kind(&object.reference().kind) {
        format!("HTTP {}", failure.code)
    } else {
        failure.to_string()
    };
    let message = format!("{} was refused, but not by this policy: {shown}", object.reference());
    Ok(Some(Finding::new(policy, Class::Unknown, message)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_cluster::Failure;

    use super::*;

    fn probe(kind: &str) -> Object {
        Object::new(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}), None).unwrap()
    }

    fn api(code: u16, message: &str) -> ClusterError {
        let body = json!({"kind": "Status", "reason": "Forbidden", "message": message}).to_string();
        let failure = Box::new(Failure::parse(code, body.as_bytes(), None));
        ClusterError::Api { what: "POST /".into(), failure }
    }

    fn check(signature: &Signature, code: u16, message: &str, want: Option<Class>) {
        let got = judge("p", &probe("ConfigMap"), Some(api(code, message)), std::slice::from_ref(signature));
        assert_eq!(got.unwrap().map(|finding| finding.class), want, "{message}");
    }

    #[test]
    fn only_the_named_policy_and_binding_count() {
        let own = Signature::Policy { policy: "p".into(), bindings: vec!["b".into()] };
        let denial = |policy: &str, binding: &str| {
            format!(
                "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: no"
            )
        };
        check(&own, 422, &denial("p", "b"), None);
        check(&own, 403, &denial("p", "b"), None);
        check(&own, 422, &denial("p", "other"), Some(Class::Unknown));
        check(&own, 422, &denial("pp", "b"), Some(Class::Unknown));
        check(&own, 400, &denial("p", "b"), Some(Class::Unknown));
        check(&own, 403, "User \"x\" cannot create resource \"configmaps\"", Some(Class::Unknown));
        check(&own, 404, "namespaces \"shop\" not found", Some(Class::Unknown));
    }

    #[test]
    fn only_the_named_constraint_counts() {
        let own = Signature::Constraint { name: "deny-root".into() };
        let denial =
            |text: &str| format!("admission webhook \"validation.gatekeeper.sh\" denied the request: {text}");
        check(&own, 403, &denial("[deny-root] no root"), None);
        check(&own, 403, &denial("[other] first\n[deny-root] no root"), None);
        check(&own, 403, &denial("[other] says [deny-root] no root"), Some(Class::Unknown));
        check(&own, 403, &denial("[deny-root-2] no"), Some(Class::Unknown));
        let other = "admission webhook \"other\" denied the request: [deny-root] no";
        check(&own, 403, other, Some(Class::Unknown));
    }

    #[test]
    fn admitted_is_not_enforced() {
        let got = judge("p", &probe("ConfigMap"), None, &[]).unwrap();
        assert_eq!(got.map(|finding| finding.class), Some(Class::NotEnforced));
    }

    #[test]
    fn a_server_that_does_not_answer_is_no_finding() {
        assert!(judge("p", &probe("ConfigMap"), Some(api(503, "starting")), &[]).is_err());
        let unreachable = ClusterError::Unreachable { server: "s".into(), reason: "refused".into() };
        assert!(judge("p", &probe("ConfigMap"), Some(unreachable), &[]).is_err());
    }

    #[test]
    fn a_secrets_content_is_not_repeated() {
        let got = judge("p", &probe("Secret"), Some(api(422, "data: hunter2")), &[]).unwrap().unwrap();
        assert!(!got.message.contains("hunter2"), "{}", got.message);
    }
}
