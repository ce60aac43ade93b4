//! Objects whose definition comes or changes with the same commit: the server does not judge by it yet, so its schema is
//! applied here (kubectl issue 1117).

use serde_json::Value;
use windlass_model::{Action, Preview, Problem};
use windlass_schema::{Flaw, Unchecked, Validator};

use super::Case;
use crate::definitions::Defined;
use crate::overlay::overlay;

/// How many flaws and notices are listed.
const MANY: usize = 10;

/// Judges an object by the definition of the commit where the server judged by another one, or by none.
pub(super) fn revise(case: &Case<'_>, action: Action) -> Action {
    let reference = case.object.reference();
    let Some(defined) = case.scene.definition(&reference.kind) else { return action };
    // A definition of a later unit does not exist yet, or is still the old one, when the object is applied.
    if defined.unit > case.position {
        return action;
    }
    if !defined.serves(&reference.version) {
        return unserved(action);
    }
    match defined.validator(&reference.version) {
        Some(validator) if is_open(case, &action) => judge(case, defined, validator, action),
        _ => action,
    }
}

fn unserved(action: Action) -> Action {
    let flaw =
        format!("its definition in the same commit does not serve version `{}`", action.object.version);
    Action {
        preview: Preview::Locally(flaw.clone()),
        problem: Some(Problem::Invalid { causes: vec![flaw] }),
        ..action
    }
}

/// Says whether the schema decides: nothing else is in the way, or only the old schema. What the server says about
/// metadata holds under any schema.
fn is_open(case: &Case<'_>, action: &Action) -> bool {
    use windlass_cluster::FailureKind::{Invalid, Schema};
    match case.refusal() {
        Some(failure) if matches!(failure.kind(), Invalid | Schema) => {
            !failure.causes.iter().any(|cause| cause.field.starts_with("metadata"))
        }
        _ => action.problem.is_none(),
    }
}

fn judge(case: &Case<'_>, defined: &Defined<'_>, validator: &Validator, action: Action) -> Action {
    let kind = &action.object.kind;
    let because = match defined.change.old {
        Some(_) => format!("the definition of `{kind}` changes in the same commit"),
        None => format!("the kind `{kind}` is defined by the same commit"),
    };
    let foreseen = match case.reply() {
        // What the old schema allowed is only right as far as the new one allows it, but it shows the change.
        Some(_) => action,
        None => case.foreseen(Preview::Server),
    };
    let live = case.asked.live.as_ref().map(windlass_model::Object::body);
    let findings = validator.check(&outcome(case), live);
    let mut flaws = validator.unknown(case.object.body());
    flaws.extend(findings.flaws);
    let mut warnings = foreseen.warnings;
    warnings.extend(listed(&findings.unchecked, Unchecked::to_string));
    let causes = listed(&flaws, Flaw::to_string);
    let problem = (!causes.is_empty()).then_some(Problem::Invalid { causes });
    Action { preview: Preview::Locally(because), problem, warnings, ..foreseen }
}

/// Returns the object as it would be: what the server says, or a guess. A creation takes no status along.
fn outcome(case: &Case<'_>) -> Value {
    if let Some(reply) = case.reply() {
        return reply.object.body().clone();
    }
    let mut desired = case.object.body().clone();
    let reference = case.object.reference();
    let new = case
        .scene
        .definition(&reference.kind)
        .and_then(|defined| defined.change.new.version(&reference.version));
    if new.is_some_and(windlass_schema::Version::has_status)
        && let Some(fields) = desired.as_object_mut()
    {
        fields.remove("status");
    }
    match &case.asked.live {
        Some(live) => overlay(live.body(), &desired),
        None => desired,
    }
}

fn listed<T>(all: &[T], text: impl Fn(&T) -> String) -> Vec<String> {
    let mut texts: Vec<String> = all.iter().take(MANY).map(text).collect();
    let more = all.len().saturating_sub(MANY);
    texts.extend((more > 0).then(|| format!("and {more} more")));
    texts
}
