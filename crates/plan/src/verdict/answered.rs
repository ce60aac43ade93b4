//! The server answered: what changes, and from whom fields are taken.

use windlass_model::{
    Action, Conflict, Forecast, Object, Operation, PART_OF, Problem, is_custom_kind, is_secret_kind,
};

use super::{Case, note, ours};
use crate::{Reply, forecast, ownership, sameness, stored};

/// How many paths a warning lists.
const MANY: usize = 10;

pub(super) fn action(case: &Case<'_>, reply: &Reply) -> Action {
    let mut action = case.action();
    let Some(live) = &case.asked.live else {
        action.desired = case.digest();
        action.warnings = warnings(case, reply);
        return action;
    };
    action.delta = sameness::delta(live, &reply.object);
    let ownership_changes = sameness::ownership_changes(live, &reply.object);
    let stays = live.label(PART_OF) == reply.object.label(PART_OF);
    if action.operation == Operation::Update && action.delta.is_empty() && !ownership_changes && stays {
        action.operation = Operation::NoOp;
    }
    (action.takes_over, action.problem) = conflicts(case, live, action.operation);
    if action.operation.writes() {
        action.forecasts = forecasts(case, live, reply, &action);
    }
    action.warnings = warnings(case, reply);
    action
}

/// Splits conflicts into what is taken over and what stops the action.
///
/// An object that is adopted is taken from whoever made it. From an object that is ours already, a person's
/// change is taken back; a controller would write again, and again. What was written through `scale` belongs to an
/// autoscaler (kubernetes issue 25238) unless a person's tool did it.
fn conflicts(case: &Case<'_>, live: &Object, operation: Operation) -> (Vec<Conflict>, Option<Problem>) {
    let may_take = |conflict: &&Conflict| {
        let by_hand = ownership::is_by_hand(&conflict.manager);
        by_hand || operation == Operation::Adopt && !ownership::is_scale(live, conflict)
    };
    let (taken, blocked): (Vec<&Conflict>, Vec<&Conflict>) = case.asked.conflicts.iter().partition(may_take);
    let dated = |conflict: &Conflict| ownership::dated(live, conflict);
    let blocked: Vec<Conflict> = blocked.into_iter().map(dated).collect();
    let problem = (!blocked.is_empty()).then_some(Problem::Conflicts { fields: blocked });
    (taken.into_iter().map(dated).collect(), problem)
}

fn forecasts(case: &Case<'_>, live: &Object, reply: &Reply, action: &Action) -> Vec<Forecast> {
    let mut forecasts = forecast::of_change(case.object, live, &reply.object, &action.delta);
    if let Some(unit) = ours::moves_from(case, live) {
        forecasts.push(note(format!("moves here from the unit `{unit}`")));
    } else if action.operation == Operation::Update && action.delta.is_empty() {
        forecasts
            .push(note("ownership only: no value changes, but Windlass will own other fields than it does"));
    }
    if action.operation == Operation::Adopt {
        forecasts.extend(adoption(case, live));
    }
    forecasts
}

/// What only happens when an object is taken over from its maker.
fn adoption(case: &Case<'_>, live: &Object) -> Vec<Forecast> {
    let mut forecasts = Vec::new();
    let kind = &live.reference().kind;
    let labelled_anew = live.label(PART_OF).is_none() && case.scene.has_sets();
    // Flux issue 414: an operator that copies labels restarts pods for a new one.
    if is_custom_kind(kind) && labelled_anew {
        let why = format!("possibly: the operator of `{kind}` may copy the new label {PART_OF} to pods");
        forecasts.push(Forecast::Restart { why });
    }
    forecasts
}

fn warnings(case: &Case<'_>, reply: &Reply) -> Vec<String> {
    let mut warnings: Vec<String> = if is_secret_kind(&case.object.reference().kind) {
        let withheld = || "the server warns about this Secret; its words are withheld".to_owned();
        reply.warnings.iter().take(1).map(|_| withheld()).collect()
    } else {
        reply.warnings.clone()
    };
    let deviations = stored::deviations(case.object, &reply.object);
    let dropped = |path: &String| format!("{path} is declared, but the server does not store it");
    let extra = |path: &String| format!("{path} stays besides the declared items: another manager owns it");
    warnings.extend(deviations.dropped.iter().map(dropped));
    warnings.extend(deviations.extra.iter().map(extra));
    warnings.extend(left_behind(&reply.object));
    warnings
}

/// A field that was once adopted and is no longer declared stays for ever, so it is told in every plan, also where
/// nothing is written.
fn left_behind(answer: &Object) -> Option<String> {
    let mut left = ownership::left_behind(answer);
    let more = left.len().saturating_sub(MANY);
    left.truncate(MANY);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!left.is_empty()).then(|| {
        format!(
            "stays although the manifest does not declare it, until the other manager that owns it gives it up: {}{more}",
            left.join(", ")
        )
    })
}
