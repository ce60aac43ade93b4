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
pub(crate) use synthetic::pod_of;

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
    let stand_in = asked.stand_in();
    let (failure, asks_for_sender, everywhere) = match scene.observation.pods.get(&key)? {
        PodAnswer::Admitted { warnings } => {
            let whose = stand_in
                .map_or_else(|| "its pods".to_owned(), |name| format!("its pods, tried out in `{name}`"));
            action.warnings.extend(warnings.iter().map(|text| format!("{whose}: {text}")));
            return None;
        }
        PodAnswer::Failed(reason) => {
            not_previewed(action, reason);
            return None;
        }
        PodAnswer::Refused { failure, asks_for_sender, everywhere } => {
            (failure, *asks_for_sender, *everywhere)
        }
    };
    let words = words(failure);
    match (meaning(failure), stand_in) {
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
        (Meaning::Denied, Some(name)) if failure.denier() == Some(Denier::PodSecurity) => not_previewed(
            action,
            &format!(
                "the PodSecurity labels of `{name}` refuse them; `guards.standInNamespace` can name a namespace with those of theirs"
            ),
        ),
        (Meaning::Denied, Some(name)) if !everywhere => action.warnings.push(format!(
            "in `{name}` its pods would be refused, which may or may not hold in their own namespace: {words}"
        )),
        (Meaning::Denied, _) => {
            let rules_change = match stand_in {
                Some(_) => scene.changes_policies(),
                None => scene.changes_rules_for(key.namespace.as_deref().unwrap_or_default()),
            };
            return denied(scene, action, workload, &words, &Doubts { asks_for_sender, rules_change });
        }
    }
    None
}

/// What every namespace has; a controller makes it.
const DEFAULT_ACCOUNT: &str = "default";

/// Why an answer may not be final.
struct Doubts {
    asks_for_sender: bool,
    rules_change: bool,
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

fn lacks(scene: &Scene<'_>, action: &mut Action, kind: &str, name: &str) {
    // Pods are made once everything is applied, whichever unit it comes with.
    if scene.position_of(kind, name, action.object.namespace.as_deref()).is_some() {
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
    doubts: &Doubts,
) -> Option<Refusal> {
    let object = &action.object;
    let rolls = if action.live.is_some() {
        template::replaces_pods(workload)
    } else {
        template::makes_pods(workload)
    };
    let doubt = if !rolls {
        Some("it makes no new pods now, but would fail later")
    } else if doubts.asks_for_sender {
        Some("the policy asks who sends a pod, and the controller that sends the real ones is somebody else")
    } else if doubts.rules_change {
        Some("the same commit changes policies, or the rules of the namespace")
    } else if scene.inputs.guards.pod_policy == PodPolicyRule::Warn {
        Some("the environment file says `podPolicy: warn`")
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
