//! The server refused: why, and what can be foreseen nevertheless.

use windlass_cluster::{Failure, FailureKind};
use windlass_model::{Action, Operation, Preview, Problem};

use super::{Case, kept_by, pending};
use crate::problem::{of_failure, other};
use crate::{Trial, immutable};

pub(super) fn action(case: &Case<'_>, failure: &Failure) -> Action {
    let kind = &case.object.reference().kind;
    match failure.kind() {
        FailureKind::NamespaceMissing => {
            pending::namespace(case, &Trial::Not("namespaces may not be listed".to_owned()))
        }
        FailureKind::KindNotServed => pending::kind(case, false),
        FailureKind::NamespaceTerminating => terminating_namespace(case),
        FailureKind::Immutable => recreate(case, failure),
        // Only the preview is impossible: the webhook takes part in the real write.
        FailureKind::NoDryRun => {
            case.foreseen(Preview::Not("a webhook does not support dry-runs".to_owned()))
        }
        FailureKind::WebhookFailed => case.with_problem(
            Preview::Not("a webhook that must be asked does not answer".to_owned()),
            of_failure(kind, failure),
        ),
        _ => case.with_problem(Preview::Server, of_failure(kind, failure)),
    }
}

/// An immutable field is never got round by deleting and creating again: that is how data is lost.
fn recreate(case: &Case<'_>, failure: &Failure) -> Action {
    let mut action = case.foreseen(Preview::Server);
    if action.live.is_some() {
        action.operation = Operation::Recreate;
    }
    let paths = immutable::paths(&action.object.kind, failure, &action.delta);
    Action { problem: Some(Problem::Immutable { paths }), ..action }
}

pub(super) fn terminating_namespace(case: &Case<'_>) -> Action {
    let name = case.object.reference().namespace.clone().unwrap_or_default();
    let kept = case.scene.observation.namespaces.get(&name).map(kept_by).unwrap_or_default();
    case.with_problem(Preview::Server, other(format!("the namespace `{name}` is being deleted{kept}")))
}
