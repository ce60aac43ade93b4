//! What all actions together restart and take along.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Action, Forecast, Object, Operation, RetainedVolume, Toll};

use super::cascade::{claims_going, is_kept, is_uncounted, names, size};
use super::text;
use crate::scene::Scene;
use crate::{ObjectKey, Observation};

/// Adds up a plan. What deletions take along is counted by name, since a namespace, a StatefulSet in it and a claim of
/// that set can all be among them.
pub(crate) fn of_plan(scene: &Scene<'_>, actions: &[Action]) -> Toll {
    let mut toll = Toll::default();
    let mut gone = Gone::default();
    let candidates = scene.observation.candidates.iter().map(|candidate| &candidate.object);
    let live: BTreeMap<ObjectKey, &Object> =
        candidates.map(|object| (ObjectKey::from(object.reference()), object)).collect();
    for action in actions {
        restarts(action, &mut toll);
        if action.operation == Operation::Prune {
            if let Some(object) = live.get(&ObjectKey::from(&action.object)) {
                gone.add(scene.observation, object, &action.retains);
            }
        } else {
            shrinking(action, &mut toll);
        }
    }
    toll.uncounted_deletions = gone.uncounted;
    toll.deleted_pods += gone.pods.len();
    toll.deleted_claims += gone.claims.len();
    toll.destroyed_volumes += gone.volumes.len();
    toll.destroyed_bytes =
        gone.volumes.values().flatten().fold(toll.destroyed_bytes, |sum, bytes| sum.saturating_add(*bytes));
    toll
}

fn restarts(action: &Action, toll: &mut Toll) {
    let pods: Vec<Option<usize>> = action
        .forecasts
        .iter()
        .filter_map(|forecast| match forecast {
            Forecast::Restart { pods, .. } => Some(*pods),
            _ => None,
        })
        .collect();
    toll.restarted_pods += pods.iter().flatten().sum::<usize>();
    toll.uncounted_restarts += usize::from(pods.contains(&None));
}

/// What scaling down takes along belongs to one object only.
fn shrinking(action: &Action, toll: &mut Toll) {
    for forecast in &action.forecasts {
        if let Forecast::Cascade { pods, claims, volumes, bytes, .. } = forecast {
            toll.deleted_pods += pods;
            toll.deleted_claims += claims;
            toll.destroyed_volumes += volumes;
            toll.destroyed_bytes = toll.destroyed_bytes.saturating_add(*bytes);
        }
    }
}

/// What deletions take along.
#[derive(Default)]
struct Gone {
    pods: BTreeSet<ObjectKey>,
    claims: BTreeSet<ObjectKey>,
    /// By name, with the size where it is known.
    volumes: BTreeMap<String, Option<u64>>,
    /// Objects of which it could not be read what they own.
    uncounted: usize,
}

impl Gone {
    fn add(&mut self, observation: &Observation, object: &Object, retained: &[RetainedVolume]) {
        let key = ObjectKey::from(object.reference());
        self.uncounted += usize::from(is_uncounted(object, observation));
        let descendants = observation.descendants_of(&key);
        let pods = std::iter::once(object).chain(descendants).filter(|object| is_pod(object));
        self.pods.extend(pods.map(|pod| ObjectKey::from(pod.reference())));
        let retained = names(retained);
        for claim in claims_going(object, observation) {
            self.claims.insert(ObjectKey::from(claim.reference()));
            if let Some(volume) = text(claim, "/spec/volumeName")
                && !is_kept(claim, observation, &retained)
            {
                self.volumes.insert(volume.to_owned(), size(claim));
            }
        }
    }
}

fn is_pod(object: &Object) -> bool {
    object.reference().kind.is("", "Pod")
}
