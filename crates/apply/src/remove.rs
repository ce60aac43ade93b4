//! Deleting one object, and waiting until it is gone.

use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::{Deleted, Failure, FailureKind, Propagation};
use windlass_model::{Action, ApplySet, Object, ObjectRef};

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
    /// The object is going or gone.
    Going(Leaving),
    Absent,
    Replaced,
    Kept(Kept),
}

/// An object that is going, and is gone once no object has this uid.
pub(crate) struct Leaving {
    pub(crate) object: ObjectRef,
    uid: String,
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
    let keep = |live: &Object, reason| {
        let member = set.is_some_and(|set| has_label(live, set));
        Removal::Kept(Kept { object: object.clone(), reason, member })
    };
    let (mut attempts, mut repeats) = (0, 0);
    loop {
        let Some(live) = context.cluster.get(object).await.map_err(failed)? else {
            return Ok(Removal::Absent);
        };
        let planned = action.live.as_ref().map(|live| live.uid.as_str());
        let (Some(uid), true) = (live.uid(), live.uid() == planned) else {
            return Ok(Removal::Replaced);
        };
        if let Some(reason) = doubt(&live, set, wanted).or_else(|| needed.clone()) {
            return Ok(keep(&live, reason));
        }
        let leaving = Leaving { object: object.clone(), uid: uid.to_owned() };
        if live.is_terminating() {
            return Ok(Removal::Going(leaving));
        }
        if let Some(reason) = instances::reason(&live, context).await.map_err(failed)? {
            return Ok(keep(&live, reason));
        }
        retain(action, context).await?;
        if let Some(reason) = losses.reason(&live, action, context).await.map_err(failed)? {
            return Ok(keep(&live, reason));
        }
        let resource = context.cluster.resource_of(live.reference()).await.map_err(failed)?;
        let request = context.cluster.delete(&resource, &live, Propagation::Background, false);
        let error = match context.send("delete", object, Some(uid), request).await {
            Ok(Deleted::Accepted) => return Ok(Removal::Going(leaving)),
            Ok(Deleted::Absent) => return Ok(Removal::Absent),
            Ok(Deleted::Replaced) => return Ok(Removal::Replaced),
            Err(Unsent::Stopped) => return Err(Halt::Stopped),
            Err(Unsent::Failed(error)) => error,
        };
        attempts += 1;
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
        let mut still = Vec::new();
        for leaving in left {
            // Whether an object is gone cannot be told while the server does not answer.
            match context.cluster.get(&leaving.object).await {
                Ok(None) => {}
                Ok(Some(live)) if live.uid() != Some(leaving.uid.as_str()) => {}
                Ok(Some(_)) | Err(_) => still.push(leaving),
            }
        }
        if still.is_empty() || Instant::now() >= end {
            return Ok(still.into_iter().map(|leaving| leaving.object).collect());
        }
        left = still;
        if !context.pause(pause).await {
            return Err(Halt::Stopped);
        }
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}
