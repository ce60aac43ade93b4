//! Whether the cluster would take the pods of a changed workload: policies on pods speak only when a controller makes
//! them, long after the workload itself was accepted.

mod answer;
mod synthetic;

use windlass_cluster::{Denier, Failure};
use windlass_model::{Action, Forecast, Object, Refusal};
use windlass_settings::PodPolicyRule;

pub use answer::PodAnswer;
pub(crate) use answer::lacking;
use answer::{Meaning, meaning};
pub(crate) use synthetic::{looks_at, pod_of, without};

use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{Ask, Asked, ObjectKey, template};

/// Returns a workload as it would be, if its pods would be made from another template than now.
pub(crate) fn changed(asked: &Asked) -> Option<&Object> {
    let reply = match &asked.answer {
        Ask::Answered(reply) => reply,
        Ask::NamespaceMissing(trial) => trial.reply()?,
        _ => return None,
    };
    if asked.live.as_ref().is_some_and(|live| live.holds_the_same(&reply.object)) {
        return None;
    }
    let template = template::of(&reply.object)?;
    let before = asked.live.as_ref().and_then(template::of);
    (before != Some(template)).then_some(&reply.object)
}

/// Adds to the action what the server says to the workload's pods, and returns the refusal if it would take none. Where
/// the pod was tried out in a stand-in namespace, what that says of itself is only told.
pub(crate) fn judge(scene: &Scene<'_>, action: &mut Action) -> Option<Refusal> {
    let key = ObjectKey::from(&action.object);
    let asked = scene.observation.objects.get(&key)?;
    let workload = changed(asked)?;
    let tried = Tried { workload, stand_in: asked.stand_in(), left_out: None };
    tried.judge(scene, action, scene.observation.pods.get(&key)?)
}

/// How a pod was tried out.
#[derive(Clone, Copy)]
struct Tried<'a> {
    /// The workload that would make it.
    workload: &'a Object,
    /// The namespace in which it was tried out, if its own does not exist yet.
    stand_in: Option<&'a str>,
    /// What it was tried out without, if what refuses it may look at that.
    left_out: Option<&'a str>,
}

impl Tried<'_> {
    fn judge(self, scene: &Scene<'_>, action: &mut Action, answer: &PodAnswer) -> Option<Refusal> {
        match answer {
            PodAnswer::Admitted { warnings } => {
                let whose = self
                    .stand_in
                    .map_or_else(|| "its pods".to_owned(), |name| format!("its pods, tried out in `{name}`"));
                action.warnings.extend(warnings.iter().map(|text| format!("{whose}: {text}")));
                None
            }
            PodAnswer::Failed(reason) => {
                not_previewed(action, reason);
                None
            }
            PodAnswer::Without { missing, asks_for_it, answer } => {
                let names = coming(scene, action, missing)?;
                let come = if missing.len() > 1 { "which come" } else { "which comes" };
                let text = format!("its pods were tried out without {names}, {come} with the same commit");
                action.forecasts.push(Forecast::Note { text });
                let left_out = asks_for_it.then_some(names.as_str());
                Tried { left_out, ..self }.judge(scene, action, answer)
            }
            PodAnswer::Refused { failure, asks_for_sender, everywhere } => {
                self.refused(scene, action, failure, *asks_for_sender, *everywhere)
            }
        }
    }

    fn refused(
        self,
        scene: &Scene<'_>,
        action: &mut Action,
        failure: &Failure,
        asks_for_sender: bool,
        everywhere: bool,
    ) -> Option<Refusal> {
        let words = words(failure);
        match (meaning(failure), self.stand_in) {
            (Meaning::Admitted, _) => {}
            (Meaning::Unknown, _) => not_previewed(action, &words),
            (Meaning::NoRight, None) => {
                not_previewed(action, "the identity may not create pods, not even as a dry-run");
            }
            (Meaning::NoRight, Some(name)) => not_previewed(
                action,
                &format!("the identity may not create pods in `{name}`, not even as a dry-run"),
            ),
            (Meaning::NoRoom, None) => {
                action.warnings.push(format!("there is no room for a pod more than now: {words}"));
            }
            (Meaning::NoRoom, Some(name)) => {
                not_previewed(action, &format!("the quota of `{name}` has no room for one"));
            }
            (Meaning::Lacks("ServiceAccount", account), Some(name)) if account == DEFAULT_ACCOUNT => {
                not_previewed(action, &format!("`{name}` has no ServiceAccount `{account}`"));
            }
            (Meaning::Lacks(kind, name), _) => lacks(scene, action, kind, &name),
            (Meaning::Denied, Some(name)) if failure.denier() == Some(Denier::PodSecurity) => {
                not_previewed(action, &labels_of(name));
            }
            (Meaning::Denied, Some(name)) if !everywhere => {
                action.warnings.push(refused_in(name, &words));
            }
            (Meaning::Denied, _) => {
                let rules_change = match self.stand_in {
                    Some(_) => scene.changes_policies(),
                    None => scene.changes_rules_for(action.object.namespace.as_deref().unwrap_or_default()),
                };
                let doubts = Doubts { asks_for_sender, rules_change, left_out: self.left_out };
                return denied(scene, action, self.workload, &words, &doubts);
            }
        }
        None
    }
}

fn labels_of(stand_in: &str) -> String {
    format!(
        "the PodSecurity labels of `{stand_in}` refuse them; `guards.standInNamespace` can name a namespace with those of theirs"
    )
}

fn refused_in(stand_in: &str, words: &str) -> String {
    format!(
        "in `{stand_in}` its pods would be refused, which may or may not hold in their own namespace: {words}"
    )
}

/// What every namespace has; a controller makes it.
const DEFAULT_ACCOUNT: &str = "default";

/// Why an answer may not be final.
struct Doubts<'a> {
    asks_for_sender: bool,
    rules_change: bool,
    /// What the pod was tried out without, if what refuses it may look at that.
    left_out: Option<&'a str>,
}

/// The longest refusal that is passed on.
const LONGEST: usize = 500;

/// Returns the server's words without the name of the pod, which is invented. The policy's name comes first in them.
fn words(failure: &Failure) -> String {
    let message =
        failure.message.split_once(" is forbidden: ").map_or(failure.message.as_str(), |(_, why)| why);
    let mut words: String = message.chars().take(LONGEST).collect();
    if words.len() < message.len() {
        words.push('…');
    }
    words
}

fn not_previewed(action: &mut Action, reason: &str) {
    action.forecasts.push(Forecast::Note { text: format!("its pods were not previewed: {reason}") });
}

/// Says whether the commit delivers what a pod names. Pods are made once everything is applied, whichever unit it comes
/// with.
fn comes(scene: &Scene<'_>, action: &Action, kind: &str, name: &str) -> bool {
    scene.position_of(kind, name, action.object.namespace.as_deref()).is_some()
}

/// Returns what a pod was tried out without, if the commit brings all of it; else tells what nobody brings.
fn coming(scene: &Scene<'_>, action: &mut Action, missing: &[(&'static str, String)]) -> Option<String> {
    let absent: Vec<_> = missing.iter().filter(|(kind, name)| !comes(scene, action, kind, name)).collect();
    for (kind, name) in &absent {
        lacks(scene, action, kind, name);
    }
    let names: Vec<String> = missing.iter().map(|(kind, name)| format!("the {kind} `{name}`")).collect();
    absent.is_empty().then(|| names.join(" and "))
}

fn lacks(scene: &Scene<'_>, action: &mut Action, kind: &str, name: &str) {
    if comes(scene, action, kind, name) {
        return not_previewed(action, &format!("the {kind} `{name}` comes with the same commit"));
    }
    action.warnings.push(format!(
        "no pod of it can be created: the {kind} `{name}` does not exist, and no unit delivers it"
    ));
}

/// A policy that would deny the pods denies the change: it would be applied, and nothing would start. Only a warning
/// remains where the answer is not final: the pods are not made now, the same commit changes the rules, or the policy
/// asks who sends the pod.
fn denied(
    scene: &Scene<'_>,
    action: &mut Action,
    workload: &Object,
    words: &str,
    doubts: &Doubts<'_>,
) -> Option<Refusal> {
    let object = &action.object;
    let rolls = if action.live.is_some() {
        template::replaces_pods(workload)
    } else {
        template::makes_pods(workload)
    };
    let doubt = if !rolls {
        Some("it makes no new pods now, but would fail later".to_owned())
    } else if let Some(names) = doubts.left_out {
        Some(format!("the pod was tried out without {names}, and what refuses it may look at that"))
    } else if doubts.asks_for_sender {
        Some(
            "the policy asks who sends a pod, and the controller that sends the real ones is somebody else"
                .to_owned(),
        )
    } else if doubts.rules_change {
        Some("the same commit changes policies, or the rules of the namespace".to_owned())
    } else if scene.inputs.guards.pod_policy == PodPolicyRule::Warn {
        Some("the environment file says `podPolicy: warn`".to_owned())
    } else {
        None
    };
    if let Some(doubt) = doubt {
        action.warnings.push(format!("its pods would be refused: {words}; only a warning, because {doubt}"));
        return None;
    }
    Some(Guard::PodPolicy.refuses(
        format!("the pods of {object} would be refused, so nothing of the change would start: {words}"),
        "change the pod template so that the policy accepts it; if a webhook judges Windlass differently from the controllers that make the real pods, write `podPolicy: warn` under `guards` in the environment file",
    ))
}
