//! Deleting one object, and waiting until it is gone.

use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use tokio::time::Instant;
use windlass_cluster::{Deleted, Failure, FailureKind, Propagation};
use windlass_model::{Action, ApplySet, Object, ObjectRef, is_custom_kind, is_secret_kind};

use crate::context::Unsent;
use crate::evidence::{Wanted, doubt, has_label};
use crate::failure::{Halt, Unwritten};
use crate::losses::Losses;
use crate::retain::retain;
use crate::{Context, Kept, instances};

/// How often an object is read again that changes while it is deleted.
const ATTEMPTS: u32 = 6;

/// How one deletion ended.
pub(crate) enum Removal {
    /// The object is going or gone, and the volumes that were to be kept are.
    Going(Leaving),
    /// It was gone already; says whether the volumes that were to be kept could be all the same.
    Absent {
        retained: bool,
    },
    Replaced,
    /// The object stays; says whether it was found in a state that nobody saw who approved, so that what it needs must stay
    /// as well.
    Kept {
        kept: Kept,
        unforeseen: bool,
    },
}

/// An object that is going, and is gone once no object has this uid.
#[derive(Clone)]
pub(crate) struct Leaving {
    pub(crate) object: ObjectRef,
    pub(crate) uid: String,
}

/// Deletes one object if all evidence still holds, in exactly the version in which it was looked at. `needed`
/// says what needs it, if anything does.
pub(crate) async fn remove(
    action: &Action,
    set: Option<&ApplySet>,
    wanted: &Wanted<'_>,
    needed: Option<String>,
    losses: &mut Losses,
    context: &Context<'_>,
) -> Result<Removal, Halt> {
    let object = &action.object;
    let failed = |error| Halt::from(Unwritten::of(object, &error, false));
    let keep = |live: &Object, reason, unforeseen| {
        let member = set.is_some_and(|set| has_label(live, set));
        Removal::Kept { kept: Kept { object: object.clone(), reason, member }, unforeseen }
    };
    let (mut attempts, mut repeats) = (0, 0);
    // What a request was sent for whose answer was lost.
    let mut unsure: Option<Leaving> = None;
    loop {
        let live = context.cluster.get(object).await.map_err(failed)?;
        let planned = action.live.as_ref().map(|live| live.uid.as_str());
        let ours = live.as_ref().filter(|live| live.uid().is_some() && live.uid() == planned);
        let Some((live, uid)) = ours.and_then(|live| Some((live, live.uid()?))) else {
            return Ok(match (unsure, live) {
                (Some(leaving), _) => Removal::Going(leaving),
                (None, None) => Removal::Absent { retained: rescued(action, context).await? },
                (None, Some(_)) => Removal::Replaced,
            });
        };
        if let Some(reason) = wanted.reason(live) {
            return Ok(keep(live, reason.to_owned(), false));
        }
        if let Some(reason) = doubt(live, set).or_else(|| needed.clone()) {
            return Ok(keep(live, reason, true));
        }
        let leaving = Leaving { object: object.clone(), uid: uid.to_owned() };
        if live.is_terminating() {
            retain(action, context).await?;
            return Ok(Removal::Going(leaving));
        }
        if let Some(reason) = instances::reason(live, context).await.map_err(failed)? {
            return Ok(keep(live, reason, true));
        }
        if let Some(reason) = change_since(live, action) {
            return Ok(keep(live, reason.to_owned(), true));
        }
        retain(action, context).await?;
        if let Some(reason) = losses.reason(live, action, context).await.map_err(failed)? {
            return Ok(keep(live, reason, true));
        }
        let resource = context.cluster.resource_of(live.reference()).await.map_err(failed)?;
        let request = context.cluster.delete(&resource, live, Propagation::Background, false);
        let error = match context.send("delete", object, Some(uid), request).await {
            Ok(Deleted::Accepted) => return Ok(Removal::Going(leaving)),
            // Looked at once more: it may have been this run's own request that took it away.
            Ok(Deleted::Absent | Deleted::Replaced) => None,
            Err(Unsent::Stopped) => return Err(Halt::Stopped),
            Err(Unsent::Failed(error)) => Some(error),
        };
        attempts += 1;
        let Some(error) = error else {
            if attempts >= ATTEMPTS {
                let message = format!("comes and goes: {ATTEMPTS} deletions did not find it");
                return Err(
                    Unwritten::because(object, message, "find out what makes it, then run again").into()
                );
            }
            continue;
        };
        if error.may_have_landed() {
            unsure = Some(leaving);
        }
        let moved = matches!(
            error.failure().map(Failure::kind),
            Some(FailureKind::Modified | FailureKind::Gone | FailureKind::KindNotServed)
        );
        if error.pause_before_repeat(repeats + 1).is_some() {
            context.look_up(object, error, &mut repeats).await?;
        } else if attempts >= ATTEMPTS || !moved {
            return Err(failed(error));
        }
    }
}

/// Keeps the volumes of an object that somebody else has deleted, where that is still possible.
async fn rescued(action: &Action, context: &Context<'_>) -> Result<bool, Halt> {
    match retain(action, context).await {
        Ok(()) => Ok(true),
        Err(Halt::Stopped) => Err(Halt::Stopped),
        Err(Halt::Failed(unwritten)) => {
            let failure = &unwritten.failure;
            context.warn(format!(
                "{} was deleted by somebody else, and what was to be kept of it may be lost: {} {}",
                action.object, failure.object, failure.message
            ));
            Ok(false)
        }
    }
}

/// Says that a resource is not as it was when its deletion was approved, where its content decides what goes along:
/// whether its operator keeps the data, which values a Secret holds.
fn change_since(live: &Object, action: &Action) -> Option<&'static str> {
    let planned = action.live.as_ref()?;
    let kind = &action.object.kind;
    let changed = if is_custom_kind(kind) {
        planned.generation.is_some() && live.generation() != planned.generation
    } else {
        is_secret_kind(kind) && live.resource_version() != Some(&planned.resource_version)
    };
    changed.then_some("it was changed since the plan was made")
}

/// Waits until objects are gone, at most `limit`, and returns those that are not.
pub(crate) async fn gone(
    leaving: Vec<Leaving>,
    limit: Duration,
    context: &Context<'_>,
) -> Result<Vec<ObjectRef>, Halt> {
    let end = Instant::now() + limit;
    let mut left = leaving;
    let mut pause = Duration::from_millis(50);
    loop {
        let asked = stream::iter(left.clone())
            .map(|leaving| async move { is_there(&leaving, context).await.then_some(leaving) })
            .buffer_unordered(context.concurrency.max(1))
            .filter_map(std::future::ready)
            .collect();
        tokio::select! {
            still = asked => left = still,
            () = context.stop.cancelled() => return Err(Halt::Stopped),
            () = tokio::time::sleep_until(end) => {}
        }
        if left.is_empty() || Instant::now() >= end {
            let mut left: Vec<ObjectRef> = left.into_iter().map(|leaving| leaving.object).collect();
            left.sort();
            return Ok(left);
        }
        if !context.pause(pause).await {
            return Err(Halt::Stopped);
        }
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

/// Whether an object is gone cannot be told while the server does not answer.
async fn is_there(leaving: &Leaving, context: &Context<'_>) -> bool {
    match context.cluster.get(&leaving.object).await {
        Ok(live) => live.is_some_and(|live| live.uid() == Some(leaving.uid.as_str())),
        Err(_) => true,
    }
}
