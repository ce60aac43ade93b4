//! Objects whose namespace or kind does not exist yet (kubernetes issue 114141, kubectl issue 1117).

use windlass_model::{Action, Preview, Problem};

use super::Case;
use crate::problem::other;

/// The namespace does not exist: fine, if the commit creates it in time.
pub(super) fn namespace(case: &Case<'_>) -> Action {
    let name = case.object.reference().namespace.clone().unwrap_or_default();
    match case.scene.namespace(&name) {
        Some(position) if position <= case.position => {
            case.foreseen(Preview::Locally(format!("the namespace `{name}` is created by the same commit")))
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

fn too_late(case: &Case<'_>, what: &str, position: usize) -> Problem {
    let later = case.scene.inputs.rendering.units.get(position).map_or("", |unit| unit.name.as_str());
    other(format!(
        "{what} comes with the unit `{later}`, which is applied after `{}`: let `{}` come after `{later}`",
        case.unit.name, case.unit.name
    ))
}
