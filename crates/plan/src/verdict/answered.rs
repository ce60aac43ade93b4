//! The server answered: what changes, and from whom fields are taken.

use jiff::Timestamp;
use windlass_model::{
    Action, Conflict, FieldChange, Forecast, Migration, Object, Operation, PART_OF, Preview, Problem, age,
    is_custom_kind, is_secret_kind,
};
use windlass_settings::Winner;

use super::{Case, note, ours, tell_losses};
use crate::fields::{visible, winner};
use crate::{Reply, forecast, ownership, sameness, stored};

/// The usual limit of etcd for one request (`--max-request-bytes`).
const STORED_MOST: usize = 1536 * 1024;

/// How many paths a warning lists.
const MANY: usize = 10;

pub(super) fn action(case: &Case<'_>, reply: &Reply) -> Action {
    let mut action = case.action();
    let Some(live) = &case.asked.live else {
        action.desired = case.digest();
        action.warnings = warnings(case, reply, &action.delta);
        return action;
    };
    let told = windlass_model::without_chosen(case.object, Some(live), &reply.object);
    let (delta, hidden) = visible(live, windlass_model::changes(live, &told), case.scene.inputs.fields);
    action.delta = delta;
    action.ignored.extend(hidden);
    action.ignored.sort();
    action.ignored.dedup_by(|one, other| one.field == other.field);
    if case.asked.moving.as_ref().is_some_and(|moving| moving.merged_here) {
        action.preview = Preview::Locally("the server can show it only after ownership has moved".to_owned());
    }
    (action.takes_over, action.problem) = conflicts(case, live);
    // A value that another manager wrote in other words (`1k` for `1000`) conflicts, and is the same once it is stored.
    let changes_hands = !action.takes_over.is_empty() || action.problem.is_some();
    let ownership_changes = action.migration.is_some() || sameness::ownership_changes(live, &reply.object);
    let moves = live.label(PART_OF) != reply.object.label(PART_OF);
    if action.operation == Operation::Update
        && action.delta.is_empty()
        && !(changes_hands || ownership_changes || moves)
    {
        action.operation = Operation::NoOp;
    }
    if action.operation.writes() {
        action.forecasts = forecasts(case, live, reply, &action);
        tell_losses(&mut action, live, &reply.object);
    }
    action.warnings = warnings(case, reply, &action.delta);
    action
}

/// Splits conflicts into what is taken over and what stops the action: the server forces all fields of an apply, or none,
/// so that one field that must not be taken stops the whole object.
fn conflicts(case: &Case<'_>, live: &Object) -> (Vec<Conflict>, Option<Problem>) {
    let (mut taken, mut blocked) = (Vec::new(), Vec::new());
    for conflict in &case.asked.conflicts {
        let (winner, conflict) = winner(live, conflict, case.scene.inputs.fields);
        // Who may take an object over from another tool takes that tool's fields; an autoscaler is no such tool.
        let changes_hands = || conflict.subresource.is_none() && !ours::takeovers(case).is_empty();
        let wins = winner.map_or_else(changes_hands, |winner| winner == Winner::Take);
        let side = if wins { &mut taken } else { &mut blocked };
        side.push(ownership::dated(live, conflict, case.scene.inputs.now));
    }
    let problem = (!blocked.is_empty()).then_some(Problem::Conflicts { fields: blocked });
    (taken, problem)
}

fn forecasts(case: &Case<'_>, live: &Object, reply: &Reply, action: &Action) -> Vec<Forecast> {
    let mut forecasts = forecast::of_change(case.object, live, &reply.object, &action.delta);
    forecasts
        .extend(action.migration.as_ref().map(|migration| note(moving(migration, case.scene.inputs.now))));
    if !action.leaves.is_empty() {
        let left: Vec<String> = action.leaves.iter().map(Conflict::owner).collect();
        forecasts.push(note(format!("left as it is: {}", shortened(left))));
    }
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
        forecasts.push(Forecast::Restart { why, pods: None });
    }
    forecasts
}

fn warnings(case: &Case<'_>, reply: &Reply, delta: &[FieldChange]) -> Vec<String> {
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
    // Types of Kubernetes' own never store an empty list, and one that held nothing does not go.
    let goes = |path: &&String| delta.iter().any(|change| change.path.to_string().starts_with(path.as_str()));
    let emptied =
        deviations.emptied.iter().filter(|_| is_custom_kind(&case.object.reference().kind)).filter(goes);
    warnings.extend(emptied.map(|path| {
        format!(
            "{path} is declared as an empty list, which goes with its last items: only the next run stores it; leave it out of the manifest, which says the same"
        )
    }));
    warnings.extend(left_behind(&reply.object));
    warnings.extend(oversize(&reply.object));
    warnings
}

/// What a dry-run does not find: the store refuses what is too large for it, and nothing is stored by a dry-run.
fn oversize(answer: &Object) -> Option<String> {
    let size = answer.size();
    (size > STORED_MOST).then(|| {
        format!(
            "is {} KiB large; the server may refuse to store it, which no preview shows: etcd takes about {} KiB",
            size / 1024,
            STORED_MOST / 1024
        )
    })
}

/// Says whose fields move before the object is applied.
fn moving(migration: &Migration, now: Timestamp) -> String {
    let from: Vec<String> = migration
        .managers
        .iter()
        .map(|from| match &from.last_write {
            Some(time) => {
                let ago = age(time, now).map(|age| format!("{age} ago, ")).unwrap_or_default();
                format!("{} (which last wrote {ago}on {time})", from.manager)
            }
            None => from.manager.clone(),
        })
        .collect();
    match &migration.version {
        Some(version) if from.is_empty() => {
            format!("first rewrites all ownership to {version}, which changes no field")
        }
        Some(version) => format!(
            "first rewrites all ownership to {version} and moves to Windlass what {} owns, which changes no field",
            from.join(", ")
        ),
        None => format!(
            "first moves to Windlass what {} owns, which changes no field; what the manifest does not declare then goes",
            from.join(", ")
        ),
    }
}

/// A field that was once adopted and is no longer declared stays for ever, so it is told in every plan, also where
/// nothing is written.
fn left_behind(answer: &Object) -> Option<String> {
    let left = ownership::left_behind(answer);
    (!left.is_empty()).then(|| {
        format!(
            "stays although the manifest does not declare it, until the other manager that owns it gives it up: {}",
            shortened(left)
        )
    })
}

fn shortened(mut texts: Vec<String>) -> String {
    let more = texts.len().saturating_sub(MANY);
    texts.truncate(MANY);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", texts.join(", "))
}
