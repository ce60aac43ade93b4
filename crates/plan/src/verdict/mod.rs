//! One rendered object's part of the plan.

mod answered;
mod custom;
mod ours;
mod pending;
mod refused;

use std::collections::BTreeSet;

use windlass_cluster::Failure;
use windlass_model::{
    Action, Bodies, Conflict, Digest, Forecast, LiveId, Object, Operation, Preview, Problem, Refusal, Shown,
    Unit, is_secret_kind,
};

use crate::fields::{Sent, sent};
use crate::overlay::overlay;
use crate::problem::other;
use crate::scene::Scene;
use crate::{Ask, Asked, ObjectKey, Reply, forecast, immutable, ownership, risk};

/// An action and, if another tool or set owns the object, why it may not be carried out.
pub(crate) struct Verdict {
    pub(crate) action: Action,
    pub(crate) refusal: Option<Refusal>,
    /// The positions of the ignore rules that meant something.
    pub(crate) used: BTreeSet<usize>,
}

/// Judges one rendered object; `position` is that of its unit.
pub(crate) fn judge(scene: &Scene<'_>, position: usize, unit: &Unit, object: &Object) -> Verdict {
    let unobserved = Asked::without_conflicts(None, Ask::Failed("it was not looked at".to_owned()));
    let asked = scene.observation.objects.get(&ObjectKey::from(object.reference())).unwrap_or(&unobserved);
    // Looked at once, and let go: unfolded, all objects of a large cluster would not fit.
    let (object, asked) = (&object.folded(), &asked.clone().folded());
    let sent = sent(object, asked.live.as_ref(), scene.inputs.fields);
    let case = Case { scene, position, unit, object: sent.or(object), rendered: object, sent: &sent, asked };
    let mut action = match &asked.live {
        Some(live) if live.is_terminating() => case.terminating(live),
        _ if case.is_in_going_namespace() => refused::terminating_namespace(&case),
        _ => match &asked.answer {
            Ask::Answered(reply) => answered::action(&case, reply),
            Ask::Refused(failure) => refused::action(&case, failure),
            Ask::NotServed { stale } => pending::kind(&case, *stale),
            Ask::NamespaceMissing(trial) => pending::namespace(&case, trial),
            Ask::Failed(reason) => case.unknown(reason),
        },
    };
    action = custom::revise(&case, action);
    action.forecasts.extend(ours::takeovers(&case));
    action.risk = risk::of(action.operation, &action.object.kind, &action.forecasts)
        .max(risk::of_exposure(action.operation, case.object));
    if action.operation.writes() {
        action.bodies = case.bodies();
    }
    let refusal = ours::refusal(&case);
    Verdict { action, refusal, used: sent.used }
}

/// One rendered object with all that is known about it.
struct Case<'a> {
    scene: &'a Scene<'a>,
    position: usize,
    unit: &'a Unit,
    /// The object as it is sent.
    object: &'a Object,
    /// The object as it is rendered.
    rendered: &'a Object,
    /// What of it is not sent.
    sent: &'a Sent,
    asked: &'a Asked,
}

impl Case<'_> {
    /// Returns the action that changes nothing yet: the object is created, changed or adopted.
    fn action(&self) -> Action {
        let live = self.asked.live.as_ref();
        let operation = match live {
            None => Operation::Create,
            Some(live) if ours::is_ours(self.scene, live) => Operation::Update,
            Some(_) => Operation::Adopt,
        };
        Action {
            origin: self.object.origin().cloned(),
            live: live.and_then(live_id),
            leaves: self.leaves(),
            ignored: self.sent.ignored.clone(),
            sent: self.sent.object.clone(),
            migration: self.asked.moving.as_ref().map(|moving| moving.migration.clone()),
            ..Action::new(self.unit.name.clone(), self.object.reference().clone(), operation)
        }
    }

    fn leaves(&self) -> Vec<Conflict> {
        let Some(live) = &self.asked.live else { return self.sent.leaves.clone() };
        let dated = |left: &Conflict| ownership::dated(live, left.clone(), self.scene.inputs.now);
        self.sent.leaves.iter().map(dated).collect()
    }

    /// Returns the object before and after, as far as it is known.
    fn bodies(&self) -> Bodies {
        let live = self.asked.live.as_ref();
        let after = match (self.reply(), live) {
            (Some(reply), _) => Shown::of(&windlass_model::without_chosen(self.object, live, &reply.object)),
            (_, Some(live)) => Shown::of(&live.with_body(overlay(live.body(), self.object.body()))),
            (_, None) => Shown::of(self.object),
        };
        Bodies { before: live.map(Shown::of), after: Some(after) }
    }

    /// Returns what the server would make of the object, in its own namespace or in one that stands in.
    fn reply(&self) -> Option<&Reply> {
        match &self.asked.answer {
            Ask::Answered(reply) => Some(reply),
            Ask::NamespaceMissing(trial) => trial.reply(),
            _ => None,
        }
    }

    /// Returns why the server refuses the object, wherever it is.
    fn refusal(&self) -> Option<&Failure> {
        match &self.asked.answer {
            Ask::Refused(failure) => Some(failure),
            Ask::NamespaceMissing(trial) => trial.refusal(),
            _ => None,
        }
    }

    /// Returns the action as far as it can be foreseen without the server.
    fn foreseen(&self, preview: Preview) -> Action {
        let mut action = Action { preview, desired: self.digest(), ..self.action() };
        if let Some(live) = &self.asked.live {
            let after = live.with_body(overlay(live.body(), self.object.body()));
            action.delta = immutable::foreseen_delta(live, self.object);
            action.forecasts = forecast::of_change(self.object, live, &after, &action.delta);
            tell_losses(&mut action, live, &after);
        }
        action
    }

    /// Says whether the object's namespace is being deleted: changes in it are accepted, and lost.
    fn is_in_going_namespace(&self) -> bool {
        let namespace = self.object.reference().namespace.as_ref();
        namespace.is_some_and(|name| self.scene.observation.namespaces.contains_key(name))
    }

    fn with_problem(&self, preview: Preview, problem: Problem) -> Action {
        Action { problem: Some(problem), ..self.foreseen(preview) }
    }

    /// A digest of what will be sent; none of a Secret, because a short one can be guessed from it.
    fn digest(&self) -> Option<Digest> {
        (!is_secret_kind(&self.object.reference().kind)).then(|| Digest::of_json(self.rendered.body()))
    }

    fn unknown(&self, reason: &str) -> Action {
        self.with_problem(Preview::Not(reason.to_owned()), other(reason))
    }

    /// A change of an object that is being deleted would be accepted and lost.
    fn terminating(&self, live: &Object) -> Action {
        let message = format!("the live object is being deleted{}", kept_by(live));
        self.with_problem(Preview::Not("the live object is being deleted".to_owned()), other(message))
    }
}

/// Says which volumes a change destroys, whoever foresees it: an approval covers those, and no others.
fn tell_losses(action: &mut Action, live: &Object, after: &Object) {
    let destroyed = forecast::scaled_away(live, after);
    action.uncounted = destroyed.is_none();
    action.destroys = destroyed.unwrap_or_default();
}

pub(crate) fn live_id(live: &Object) -> Option<LiveId> {
    Some(LiveId {
        uid: live.uid()?.to_owned(),
        resource_version: live.resource_version()?.to_owned(),
        generation: live.generation(),
        terminating: live.is_terminating(),
    })
}

/// Says since when an object is being deleted and what keeps it.
fn kept_by(object: &Object) -> String {
    let since = object.body().pointer("/metadata/deletionTimestamp").and_then(|stamp| stamp.as_str());
    let list = |pointer: &str| {
        let items = object.body().pointer(pointer).and_then(|items| items.as_array()).into_iter().flatten();
        items.filter_map(|item| item.as_str()).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut keepers = list("/metadata/finalizers");
    keepers.extend(list("/spec/finalizers"));
    let conditions =
        object.body().pointer("/status/conditions").and_then(|all| all.as_array()).into_iter().flatten();
    // A namespace says in conditions what still lives in it.
    keepers.extend(
        conditions
            .filter(|condition| condition["status"] == "True")
            .filter_map(|condition| condition["message"].as_str())
            .map(str::to_owned),
    );
    let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
    let keepers =
        if keepers.is_empty() { String::new() } else { format!("; what keeps it: {}", keepers.join(", ")) };
    format!("{since}{keepers}")
}

fn note(text: impl Into<String>) -> Forecast {
    Forecast::Note { text: text.into() }
}
