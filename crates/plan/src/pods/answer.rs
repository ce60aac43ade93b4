//! What the server says to a pod that a changed workload would make.

use std::fmt;

use windlass_cluster::{Failure, FailureKind};

/// The answer to a pod that was tried out. Its `Debug` form leaves the server's words out: they can repeat values.
#[derive(Clone)]
pub enum PodAnswer {
    /// The server would take it.
    Admitted {
        /// What it warned of.
        warnings: Vec<String>,
    },
    /// The server refuses it.
    Refused {
        /// Why.
        failure: Failure,
        /// Whether the policy that refuses asks who sends the request: the controller that makes the real pods is
        /// somebody else.
        asks_for_sender: bool,
        /// Whether that holds in every namespace, as [`crate::Outcome::Refused`] says it of objects. It matters where the
        /// pod was tried out in a namespace that stands in for its own.
        everywhere: bool,
    },
    /// The pod names what does not exist, which the server looks up before any policy; it was tried out without that.
    Without {
        /// Kinds and names of what the pod names.
        missing: Vec<(&'static str, String)>,
        /// Whether what refuses may look at what was left out.
        asks_for_it: bool,
        /// What the server says to the pod without it.
        answer: Box<Self>,
    },
    /// There was no answer that can be used.
    Failed(String),
}

impl fmt::Debug for PodAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admitted { .. } => f.write_str("Admitted"),
            Self::Refused { failure, .. } => write!(f, "Refused({} {})", failure.code, failure.reason),
            Self::Without { missing, answer, .. } => write!(f, "Without({missing:?}, {answer:?})"),
            Self::Failed(reason) => write!(f, "Failed({reason})"),
        }
    }
}

/// What a refusal of a pod means for the workload that would make it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Admission took the pod; only its name is in use.
    Admitted,
    /// The own identity may not create pods, not even as a dry-run.
    NoRight,
    /// The pod names an object that does not exist (kind, name); it is admitted once it does.
    Lacks(&'static str, String),
    /// The namespace's quota has no room for one pod more.
    NoRoom,
    /// Admission refuses the pod, and would refuse the controller's.
    Denied,
    /// The answer tells nothing about the controller's pods.
    Unknown,
}

/// Tells what a refusal means. The wordings are those of the admission plugins of Kubernetes 1.36.
pub(super) fn meaning(failure: &Failure) -> Meaning {
    let message = failure.message.as_str();
    if let Some((kind, name)) = lacking(failure) {
        return Meaning::Lacks(kind, name);
    }
    match failure.kind() {
        FailureKind::Modified => Meaning::Admitted,
        FailureKind::Quota => Meaning::NoRoom,
        FailureKind::Forbidden if message.contains("cannot create resource \"pods\"") => Meaning::NoRight,
        FailureKind::Denied | FailureKind::Forbidden | FailureKind::Invalid => Meaning::Denied,
        _ => Meaning::Unknown,
    }
}

/// Returns the object that a pod names and that does not exist: its kind and name. Who denies may say what they like.
pub(crate) fn lacking(failure: &Failure) -> Option<(&'static str, String)> {
    let message = failure.message.as_str();
    if failure.denier().is_some() {
        return None;
    }
    let quoted = |text: &str| Some(text.split('"').nth(1)?.to_owned());
    if let Some((_, rest)) = message.split_once("error looking up service account ") {
        return rest
            .contains("not found")
            .then(|| quoted(rest))
            .flatten()
            .map(|name| ("ServiceAccount", name));
    }
    if let Some((_, rest)) = message.split_once("no PriorityClass with name ") {
        return Some(("PriorityClass", rest.split(' ').next()?.to_owned()));
    }
    let (_, rest) = message.split_once("RuntimeClass ")?;
    rest.contains("not found").then(|| quoted(rest)).flatten().map(|name| ("RuntimeClass", name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_of_a_pod_are_told_apart() {
        let check = |code: u16, message: &str, want: Meaning| {
            let status = json!({"kind": "Status", "message": message});
            let failure = Failure::parse(code, status.to_string().as_bytes(), None);
            assert_eq!(meaning(&failure), want, "{message}");
        };
        let forbidden = |why: &str| format!("pods \"web-preview-wndls\" is forbidden: {why}");
        let denied = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
        check(403, &forbidden(denied), Meaning::Denied);
        check(422, &forbidden(denied), Meaning::Denied);
        check(403, &forbidden("violates PodSecurity \"restricted:latest\": runAsNonRoot"), Meaning::Denied);
        check(403, &forbidden("maximum cpu usage per Container is 1, but limit is 2"), Meaning::Denied);
        check(403, "admission webhook \"v.example\" denied the request: no", Meaning::Denied);
        check(
            409,
            "admission webhook \"v.example\" denied the request: no PriorityClass with name high was found",
            Meaning::Denied,
        );
        check(
            403,
            &forbidden("exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
            Meaning::NoRoom,
        );
        let right = "pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\" in the namespace \"shop\"";
        check(403, right, Meaning::NoRight);
        let account = "error looking up service account shop/web: serviceaccount \"web\" not found";
        check(403, &forbidden(account), Meaning::Lacks("ServiceAccount", "web".into()));
        let class = "no PriorityClass with name high was found";
        check(403, &forbidden(class), Meaning::Lacks("PriorityClass", "high".into()));
        let runtime = "pod rejected: RuntimeClass \"kata\" not found";
        check(403, &forbidden(runtime), Meaning::Lacks("RuntimeClass", "kata".into()));
        check(409, "pods \"db-3\" already exists", Meaning::Admitted);
        check(500, "Internal error occurred: failed calling webhook \"v\": refused", Meaning::Unknown);
    }
}
