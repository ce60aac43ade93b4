//! The server refused: why, and what can be foreseen nevertheless.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use windlass_cluster::{Failure, FailureKind};
use windlass_model::{Action, Operation, Preview, Problem};

use super::{Case, kept_by, pending};
use crate::problem::{beside_immutable, fields, of_failure, other};
use crate::{Trial, immutable, ownership, pods};

pub(super) fn action(case: &Case<'_>, failure: &Failure) -> Action {
    let kind = &case.object.reference().kind;
    if let Some((what, name)) = pods::lacking(failure) {
        return lacks(case, what, &name);
    }
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
        FailureKind::Invalid => {
            let mut action = case.with_problem(Preview::Server, of_failure(kind, failure));
            action.warnings.extend(stays_of_others(case, failure));
            action.warnings.extend(emptied_maps(case, failure));
            action
        }
        _ => case.with_problem(Preview::Server, of_failure(kind, failure)),
    }
}

/// A pod names something that does not exist: fine, if the same commit brings it in time.
fn lacks(case: &Case<'_>, what: &str, name: &str) -> Action {
    let problem = match case.scene.position_of(what, name, case.object.reference().namespace.as_deref()) {
        Some(position) if position <= case.position => {
            let because = format!("the {what} `{name}` comes with the same commit");
            return case.foreseen(Preview::Locally(because));
        }
        Some(position) => pending::too_late(case, &format!("the {what} `{name}`"), position),
        None => other(format!(
            "the {what} `{name}` does not exist: deliver it in this or an earlier unit, or create it"
        )),
    };
    case.with_problem(Preview::Server, problem)
}

/// What others own beside the fields that the server finds wrong stays when the manifest drops the rest, and can be what
/// makes the whole invalid (kubernetes issue 108081).
fn stays_of_others(case: &Case<'_>, failure: &Failure) -> Option<String> {
    let live = case.asked.live.as_ref()?;
    let blamed = fields(failure);
    let is_near = |path: &str| blamed.iter().any(|field| section(field) == section(path));
    let stays = ownership::of_others(live, case.object);
    let near: Vec<String> = stays
        .iter()
        .filter(|(path, _)| is_near(path))
        .map(|(path, manager)| format!("{path} ({manager})"))
        .collect();
    (!near.is_empty()).then(|| {
        format!(
            "stays although the manifest does not declare it, since another manager owns it, and may be what is wrong: {}; it goes once that manager applies the object without it, or, where it wrote it by an update, once `ownership.migrate` of the environment file names the manager",
            near.join(", ")
        )
    })
}

/// Tells of maps that are declared as empty and lose their last entry: server-side apply makes null of them, which hardly
/// any schema takes (measured on 1.36).
fn emptied_maps(case: &Case<'_>, failure: &Failure) -> Vec<String> {
    let nulls =
        failure.causes.iter().filter(|cause| cause.message.contains("\"null\"")).map(|cause| &cause.field);
    let is_empty = |field: &&String| {
        let pointer = format!("/{}", field.replace('.', "/"));
        let declared = case.object.body().pointer(&pointer).and_then(Value::as_object);
        declared.is_some_and(Map::is_empty)
    };
    let tell = |field: &String| {
        format!(
            "{field} is declared as an empty mapping, of which the server makes null once the last entry goes: leave it out of the manifest, which says the same"
        )
    };
    let told: BTreeSet<String> = nulls.filter(is_empty).map(tell).collect();
    told.into_iter().collect()
}

/// Returns the first two names of a path: deep enough to tell `spec.conversion` from `spec.versions`, for the server names
/// fields by its internal form.
fn section(path: &str) -> String {
    path.split(['.', '[']).take(2).collect::<Vec<_>>().join(".")
}

/// An immutable field is never got round by deleting and creating again: that is how data is lost.
fn recreate(case: &Case<'_>, failure: &Failure) -> Action {
    let mut action = case.foreseen(Preview::Server);
    if action.live.is_some() {
        action.operation = Operation::Recreate;
    }
    let kind = &action.object.kind;
    let paths = immutable::paths(kind, failure, &action.delta);
    let too = beside_immutable(kind, failure).into_iter();
    action.warnings.extend(too.map(|cause| format!("besides, the server finds wrong: {cause}")));
    Action { problem: Some(Problem::Immutable { paths, recipe: None }), ..action }
}

pub(super) fn terminating_namespace(case: &Case<'_>) -> Action {
    let name = case.object.reference().namespace.clone().unwrap_or_default();
    let kept = case.scene.observation.namespaces.get(&name).map(kept_by).unwrap_or_default();
    case.with_problem(Preview::Server, other(format!("the namespace `{name}` is being deleted{kept}")))
}
