//! Pruning: deleting what no unit renders any more, after everything else went well.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use windlass_model::{
    Action, ApplySet, ApprovedPlan, Event, Level, ObjectRef, Operation, Rendering, RetainedVolume, Stage,
    UnitName, is_custom_kind,
};

use crate::applied::key;
use crate::evidence::Wanted;
use crate::failure::{Halt, Unwritten};
use crate::inventory::{group_of, retain};
use crate::losses::Losses;
use crate::order::in_groups;
use crate::parents::Parents;
use crate::remove::{Leaving, Removal, gone, remove};
use crate::users::{Users, has_pods};
use crate::{Applied, ApplyError, Context, Pruned, residents};

/// How long the objects of one group may take to go.
const GONE_LIMIT: Duration = Duration::from_mins(1);

/// Deletes what an approved plan says should go, and makes the sets' parents say what is left.
///
/// Each object is read again, and deleted only if all evidence still holds and it has not changed since: it
/// carries its set's label, an earlier run recorded it, the manager `windlass` has applied it, nothing owns it,
/// no unit renders or needs it, no pod uses it, nothing exists of what it defines, and nothing lives in it that the plan
/// did not name. Custom resources go first and are waited for while their operator still
/// runs, the rest goes against the order of applying.
///
/// What runs and stays against the plan, since it was found changed or with data that the plan did not name, holds back all
/// that would go after it: it may need its Service, its rights, its operator.
///
/// A set that has not shrunk is not written: pruning nothing writes nothing.
///
/// # Errors
/// See [`ApplyError`]; nothing is deleted after a failure, and the sets stay wide, so that the next run finds
/// what is left.
pub async fn prune(
    applied: &Applied,
    approved: &ApprovedPlan,
    rendering: &Rendering,
    context: &Context<'_>,
) -> Result<Pruned, ApplyError> {
    prune_within(GONE_LIMIT, applied, approved, rendering, context).await
}

/// Does what [`prune`] does, waiting up to `limit` instead of a minute for the objects of each group to go.
///
/// # Errors
/// As [`prune`].
pub async fn prune_within(
    limit: Duration,
    applied: &Applied,
    approved: &ApprovedPlan,
    rendering: &Rendering,
    context: &Context<'_>,
) -> Result<Pruned, ApplyError> {
    if applied.plan != approved.plan().change_digest() || approved.plan().rendering != rendering.digest {
        let what = "another plan was applied than is pruned".to_owned();
        return Err(ApplyError::Mismatch { what });
    }
    let mut run = Run {
        context,
        limit,
        parents: applied.parents.clone(),
        pruned: Pruned::default(),
        losses: Losses::default(),
        needs: false,
    };
    match run.all(applied, approved, rendering).await {
        Ok(()) => Ok(run.pruned),
        Err(Halt::Stopped) => Err(ApplyError::Interrupted { touched: run.pruned.deleted }),
        Err(Halt::Failed(unwritten)) => {
            let Unwritten { failure, unanswered, .. } = *unwritten;
            let failures = vec![failure];
            Err(if unanswered {
                ApplyError::Unanswered { touched: run.pruned.deleted, failures }
            } else {
                ApplyError::Prune { pruned: Box::new(run.pruned), failures }
            })
        }
    }
}

/// How far pruning has come.
struct Run<'a> {
    context: &'a Context<'a>,
    limit: Duration,
    parents: Parents,
    pruned: Pruned,
    losses: Losses,
    /// Whether something that runs was left as it is, against the plan: it may need whatever would be deleted after it.
    needs: bool,
}

impl Run<'_> {
    async fn all(
        &mut self,
        applied: &Applied,
        approved: &ApprovedPlan,
        rendering: &Rendering,
    ) -> Result<(), Halt> {
        let actions = &approved.plan().actions;
        let prunes: Vec<&Action> =
            actions.iter().filter(|action| action.operation == Operation::Prune).collect();
        let total = prunes.len();
        let units: Vec<&UnitName> = rendering.units.iter().map(|unit| &unit.name).collect();
        let wanted = Wanted::new(rendering, applied.uids(), self.context.record_namespace);
        let mut users = Users::new(prunes.iter().map(|action| &action.object), self.limit);
        let is_custom = |action: &Action| is_custom_kind(&action.object.kind);
        let lingering = if prunes.iter().all(|action| is_custom(action)) {
            Vec::new()
        } else {
            self.lingering(actions).await?
        };
        let mut held = false;
        for group in in_groups(prunes, &units) {
            let custom = group.first().is_some_and(|action| is_custom(action));
            if held || !custom && !lingering.is_empty() {
                self.pruned.postponed.extend(group.iter().map(|action| action.object.clone()));
                continue;
            }
            let left = self.group(&group, &wanted, &mut users, total).await?;
            held = custom && !left.is_empty() || self.needs;
            self.pruned.terminating.extend(left);
        }
        self.pruned.terminating.extend(lingering);
        self.tell();
        self.shrink(actions, rendering).await
    }

    /// Waits for custom resources that an earlier run deleted, and returns those that are still going: what clears up after
    /// them must not go first.
    async fn lingering(&self, actions: &[Action]) -> Result<Vec<ObjectRef>, Halt> {
        let kept = actions
            .iter()
            .filter(|action| action.operation == Operation::Keep && is_custom_kind(&action.object.kind));
        let going = kept.filter_map(|action| {
            let live = action.live.as_ref().filter(|live| live.terminating)?;
            Some(Leaving { object: action.object.clone(), uid: live.uid.clone() })
        });
        gone(going.collect(), self.limit, self.context).await
    }

    /// Deletes the objects of one group, one after the other, and waits until they are gone.
    async fn group(
        &mut self,
        group: &[&Action],
        wanted: &Wanted<'_>,
        users: &mut Users,
        total: usize,
    ) -> Result<Vec<ObjectRef>, Halt> {
        let mut leaving = Vec::new();
        for action in group {
            let object = &action.object;
            let set = self.parents.set(&action.unit);
            let needed = match users.reason(object, &self.pruned.deleted, self.context).await? {
                None => residents::reason(action, self.context).await?,
                used => used,
            };
            match remove(action, set, wanted, needed, &mut self.losses, self.context).await? {
                Removal::Going(going) => {
                    self.pruned.deleted.push(object.clone());
                    self.retained(action);
                    leaving.push(going);
                }
                Removal::Absent { retained } => {
                    self.pruned.absent.push(object.clone());
                    if retained {
                        self.retained(action);
                    }
                }
                Removal::Replaced => self.pruned.replaced.push(object.clone()),
                Removal::Kept { kept, unforeseen } => {
                    self.needs |= unforeseen && has_pods(&object.kind);
                    self.pruned.kept.push(kept);
                }
            }
            let done = self.pruned.deleted.len()
                + self.pruned.absent.len()
                + self.pruned.replaced.len()
                + self.pruned.kept.len();
            self.context.progress(Stage::Prune, done, total, object.to_string());
        }
        gone(leaving, self.limit, self.context).await
    }

    /// Says at once how the volumes are bound again that were kept: a later failure must not swallow it.
    fn retained(&mut self, action: &Action) {
        for line in action.retains.iter().flat_map(RetainedVolume::rebinding) {
            self.context.sink.emit(Event::Message { level: Level::Info, text: line });
        }
        self.pruned.retained.extend(action.retains.iter().cloned());
    }

    fn tell(&self) {
        for kept in &self.pruned.kept {
            self.context.warn(format!("{} was not deleted: {}", kept.object, kept.reason));
        }
        for object in &self.pruned.replaced {
            self.context
                .warn(format!("{object} was not deleted: another object has its name since the plan"));
        }
        for object in &self.pruned.terminating {
            self.context
                .warn(format!("{object} was deleted and is still there: see its metadata.finalizers"));
        }
        for object in &self.pruned.postponed {
            self.context
                .warn(format!("{object} was not deleted yet: others that may need it are still there"));
        }
    }

    /// Makes each parent say what its set holds now; parents without a unit and without members go.
    async fn shrink(&mut self, actions: &[Action], rendering: &Rendering) -> Result<(), Halt> {
        let rendered: BTreeMap<&UnitName, ApplySet> = rendering
            .units
            .iter()
            .map(|unit| {
                let references = unit.objects.iter().map(windlass_model::Object::reference);
                (&unit.name, self.context.set_of(&unit.name).of(references))
            })
            .collect();
        let stay = self.staying(actions);
        let units: Vec<UnitName> = self.parents.units().cloned().collect();
        for unit in units {
            let base = rendered.get(&unit).cloned();
            let Some(old) = self.parents.set(&unit) else { continue };
            let mut set = base.clone().unwrap_or_else(|| self.context.set_of(&unit));
            for entry in self.entries_that_stay(old, &set, &stay).await? {
                retain(&mut set, &entry);
            }
            if base.is_none() && set.members.is_empty() {
                self.parents.delete(&unit, self.context).await?;
            } else {
                let old = old.members.clone();
                // What others recorded meanwhile is not ours to take out.
                let wanted = |now: &ApplySet| {
                    let mut wanted = set.clone();
                    now.members.difference(&old).for_each(|entry| retain(&mut wanted, entry));
                    wanted
                };
                self.parents.write(&unit, self.context, wanted).await?;
            }
        }
        Ok(())
    }

    /// Returns the objects that are still there although no unit renders them, by unit.
    fn staying(&self, actions: &[Action]) -> BTreeSet<(UnitName, String)> {
        let kept = self.pruned.kept.iter().filter(|kept| kept.member).map(|kept| &kept.object);
        let left = kept.chain(&self.pruned.terminating).chain(&self.pruned.postponed);
        let left: BTreeSet<_> = left.map(key).collect();
        actions
            .iter()
            .filter(|action| match action.operation {
                Operation::Keep => true,
                Operation::Prune => left.contains(&key(&action.object)),
                _ => false,
            })
            .map(|action| (action.unit.clone(), action.object.inventory_entry()))
            .collect()
    }

    /// Returns the entries of the old set that the new one must not lose. Objects whose API service does not
    /// answer may well be there, although nobody saw them.
    async fn entries_that_stay(
        &self,
        old: &ApplySet,
        new: &ApplySet,
        stay: &BTreeSet<(UnitName, String)>,
    ) -> Result<Vec<String>, Halt> {
        let surplus: Vec<&String> = old.members.difference(&new.members).collect();
        if surplus.is_empty() {
            return Ok(Vec::new());
        }
        let stale = self.context.cluster.stale_groups().await;
        let stale = stale.map_err(|error| Unwritten::of(&old.parent(), &error, false))?;
        let stays = |entry: &&String| {
            stale.contains(&group_of(entry)) || stay.contains(&(old.unit.clone(), (*entry).clone()))
        };
        Ok(surplus.into_iter().filter(stays).cloned().collect())
    }
}
