//! Objects whose namespace or kind does not exist yet (kubernetes issue 114141, kubectl issue 1117).

use windlass_model::{Action, Preview, Problem};

use super::{Case, answered};
use crate::problem::{of_failure, other};
use crate::{Outcome, Trial};

/// The namespace does not exist: fine, if the commit creates it in time, and if the object holds wherever it is.
pub(super) fn namespace(case: &Case<'_>, trial: &Trial) -> Action {
    let name = case.object.reference().namespace.clone().unwrap_or_default();
    match case.scene.namespace(&name) {
        Some(position) if position <= case.position => {
            tried_out(case, trial, &format!("the namespace `{name}` is created by the same commit"))
        }
        Some(position) => {
            case.with_problem(Preview::Server, too_late(case, &format!("the namespace `{name}`"), position))
        }
        None => case.with_problem(
            Preview::Server,
            other(format!(
                "the namespace `{name}` does not exist: deliver it in this or an earlier unit, or create it"
            )),
        ),
    }
}

/// What another namespace says counts as far as it says it of the object. What it says of itself, by its quota, its
/// limits or the policies that select it, is only told.
fn tried_out(case: &Case<'_>, trial: &Trial, because: &str) -> Action {
    let preview = Preview::Locally(format!("{because}; {}", trial.told()));
    match trial {
        Trial::Not(_) | Trial::Alike(_) => case.foreseen(preview),
        Trial::Made { stand_in, outcome: Outcome::Accepted(reply) } => {
            let mut action = Action { preview, ..answered::action(case, reply) };
            // PodSecurity warns by the labels of the namespace.
            for warning in action.warnings.iter_mut().filter(|text| text.contains("violate PodSecurity")) {
                *warning = format!("in `{stand_in}`: {warning}");
            }
            action
        }
        Trial::Made { stand_in, outcome: Outcome::Refused { failure, everywhere } } => {
            let problem = of_failure(&case.object.reference().kind, failure);
            if *everywhere {
                return case.with_problem(preview, problem);
            }
            let warning = format!(
                "in `{stand_in}` it would be refused, which may or may not hold in its own namespace: {}",
                problem.summary()
            );
            Action { warnings: vec![warning], ..case.foreseen(preview) }
        }
    }
}

/// The server does not know the kind: fine, if the commit defines it in time.
pub(super) fn kind(case: &Case<'_>, stale: bool) -> Action {
    let reference = case.object.reference();
    let (kind, version) = (&reference.kind, &reference.version);
    let Some(defined) = case.scene.definition(kind) else {
        let unknown = format!("the cluster does not know the kind `{kind}` in version `{version}`");
        let problem = if stale {
            other(format!("{unknown}: the API service of its group does not answer"))
        } else {
            let flaw = format!(
                "{unknown}, and no unit defines it: correct apiVersion and kind, or deliver its CustomResourceDefinition"
            );
            Problem::Invalid { causes: vec![flaw] }
        };
        return case.with_problem(Preview::Not(unknown), problem);
    };
    if defined.unit > case.position {
        let problem = too_late(case, &format!("the kind `{kind}`"), defined.unit);
        return case.with_problem(Preview::Not(format!("the kind `{kind}` does not exist yet")), problem);
    }
    case.foreseen(Preview::Locally(format!("the kind `{kind}` is defined by the same commit")))
}

pub(super) fn too_late(case: &Case<'_>, what: &str, position: usize) -> Problem {
    let later = case.scene.inputs.rendering.units.get(position).map_or("", |unit| unit.name.as_str());
    other(format!(
        "{what} comes with the unit `{later}`, which is applied after `{}`: let `{}` come after `{later}`",
        case.unit.name, case.unit.name
    ))
}
