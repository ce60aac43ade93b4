//! The parents of the sets: read before anything is written, widened first, made narrower last.

use std::collections::BTreeMap;

use windlass_cluster::{ApplyRequest, Deleted, Expect, Failure, FailureKind, Propagation, Selector};
use windlass_model::{ApplySet, GroupKind, Object, UnitName};

use crate::context::Unsent;
use crate::failure::{Halt, Unwritten};
use crate::{ApplyError, Context};

/// How often a parent is written against others who change it.
const ATTEMPTS: u32 = 6;

/// The parents of an environment, as they were last seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parents {
    by_unit: BTreeMap<UnitName, Parent>,
}

#[derive(Debug, Clone)]
struct Parent {
    live: Object,
    set: ApplySet,
}

impl Parents {
    /// Reads all parents of the environment; what is known of them from planning is not read again. A parent that was
    /// changed meanwhile is noticed when it is written, by its version.
    ///
    /// # Errors
    /// The parent of one of these units may not be changed. Unusable parents of other units are told and left
    /// alone.
    pub(crate) async fn read<'a>(
        units: impl Iterator<Item = &'a UnitName>,
        known: Option<&[Object]>,
        context: &Context<'_>,
    ) -> Result<Self, ApplyError> {
        let found = match known {
            Some(known) => known.to_vec(),
            None => list(context).await?,
        };
        let mut listed: BTreeMap<String, Object> =
            found.into_iter().map(|live| (live.reference().name.clone(), live)).collect();
        let mut parents = Self::default();
        for unit in units {
            let reference = context.set_of(unit).parent();
            // Without its labels a parent is not listed, and must not be taken for a missing one.
            let live = match listed.remove(&reference.name) {
                Some(live) => Some(live),
                None => context.cluster.get(&reference).await?,
            };
            if let Some(live) = live {
                parents.take(live).map_err(|source| ApplyError::Set { unit: unit.clone(), source })?;
            }
        }
        for live in listed.into_values() {
            let name = live.reference().to_string();
            if let Err(error) = parents.take(live) {
                context.warn(format!("{name} is left alone: {error}"));
            }
        }
        Ok(parents)
    }

    fn take(&mut self, live: Object) -> Result<(), windlass_model::ApplySetError> {
        let set = ApplySet::read(&live)?;
        self.by_unit.insert(set.unit.clone(), Parent { live, set });
        Ok(())
    }

    /// Returns the set of a unit as its parent says, if it has a parent.
    pub(crate) fn set(&self, unit: &UnitName) -> Option<&ApplySet> {
        self.by_unit.get(unit).map(|parent| &parent.set)
    }

    /// Returns the units that have a parent.
    pub(crate) fn units(&self) -> impl Iterator<Item = &UnitName> {
        self.by_unit.keys()
    }

    /// Makes the parent of a unit say what `wanted` makes of what it says; sends nothing if it does already.
    pub(crate) async fn write(
        &mut self,
        unit: &UnitName,
        context: &Context<'_>,
        wanted: impl Fn(&ApplySet) -> ApplySet,
    ) -> Result<(), Halt> {
        let empty = context.set_of(unit);
        let reference = empty.parent();
        let (mut force, mut repeats) = (false, 0);
        for attempt in 1..=ATTEMPTS {
            let parent = self.by_unit.get(unit);
            let now = parent.map_or(&empty, |parent| &parent.set);
            let wanted = wanted(now);
            if wanted == *now {
                return Ok(());
            }
            let object = wanted.to_object(context.version);
            let ids = parent.and_then(|parent| Some((parent.live.uid()?, parent.live.resource_version()?)));
            let (verb, expect) = match ids {
                Some((uid, version)) => ("update", Expect::Version(uid, version)),
                None => ("create", Expect::Absent),
            };
            let request = ApplyRequest { object: &object, expect, force, dry_run: false };
            let sent = context
                .send(verb, &reference, ids.map(|ids| ids.0), context.cluster.apply_parent(request))
                .await;
            let error = match sent {
                Ok(answer) => return self.take(answer.object).map_err(|error| foreign(&empty, &error)),
                Err(Unsent::Stopped) => return Err(Halt::Stopped),
                Err(Unsent::Failed(error)) => error,
            };
            let kind = error.failure().map(Failure::kind);
            match kind {
                Some(FailureKind::FieldConflict(_)) if ids.is_some() && !force => {
                    context.warn(format!(
                        "{reference} was edited by something else; its annotations are set again"
                    ));
                    force = true;
                }
                Some(
                    FailureKind::Modified
                    | FailureKind::Gone
                    | FailureKind::Recreated
                    | FailureKind::FieldConflict(_),
                ) if attempt < ATTEMPTS => {
                    let live = context.cluster.get(&reference).await;
                    let live = live.map_err(|error| Unwritten::of(&reference, &error, false))?;
                    self.replace(&empty, live)?;
                }
                _ if error.pause_before_repeat(repeats + 1).is_some() => {
                    let live = context.look_up(&reference, error, &mut repeats).await?;
                    self.replace(&empty, live)?;
                }
                Some(FailureKind::NamespaceMissing) => {
                    let message = format!("the record namespace `{}` does not exist", empty.namespace);
                    let hint = "prepare the cluster once with `kubectl apply -f pipeline/rbac/`";
                    return Err(Unwritten::because(&reference, message, hint).into());
                }
                _ => return Err(Unwritten::of(&reference, &error, false).into()),
            }
        }
        let message = format!("others changed it in each of {ATTEMPTS} attempts");
        Err(Unwritten::because(&reference, message, "find out what writes it, then run again").into())
    }

    /// Deletes the parent of a unit that is not rendered any more and has no members left. One that others changed meanwhile
    /// stays: they may have recorded members.
    pub(crate) async fn delete(&mut self, unit: &UnitName, context: &Context<'_>) -> Result<(), Halt> {
        let mut repeats = 0;
        let judged = self.set(unit).cloned();
        while let Some(parent) = self.by_unit.get(unit).filter(|parent| Some(&parent.set) == judged.as_ref())
        {
            let reference = parent.live.reference().clone();
            let failed = |error| Halt::from(Unwritten::of(&reference, &error, false));
            let resource = context.cluster.resource_of(&reference).await.map_err(failed)?;
            let request = context.cluster.delete(&resource, &parent.live, Propagation::Background, false);
            match context.send("delete", &reference, parent.live.uid(), request).await {
                Ok(Deleted::Accepted | Deleted::Absent | Deleted::Replaced) => {
                    self.by_unit.remove(unit);
                }
                Err(Unsent::Stopped) => return Err(Halt::Stopped),
                Err(Unsent::Failed(error)) => {
                    let live = context.look_up(&reference, error, &mut repeats).await?;
                    self.replace(&context.set_of(unit), live)?;
                }
            }
        }
        Ok(())
    }

    /// Takes a parent as it is now for what was known of it.
    fn replace(&mut self, empty: &ApplySet, live: Option<Object>) -> Result<(), Halt> {
        self.by_unit.remove(&empty.unit);
        match live {
            Some(live) => self.take(live).map_err(|error| foreign(empty, &error)),
            None => Ok(()),
        }
    }
}

async fn list(context: &Context<'_>) -> Result<Vec<Object>, ApplyError> {
    let resource = context.cluster.resource(&GroupKind::new("", "ConfigMap"), "v1").await?;
    let labels = ApplySet::parents_of(context.environment);
    let selector =
        Selector { namespace: Some(context.record_namespace), labels: Some(&labels), fields: None };
    Ok(context.cluster.list(&resource, selector).await?.objects)
}

fn foreign(set: &ApplySet, error: &windlass_model::ApplySetError) -> Halt {
    Unwritten::because(&set.parent(), error.to_string(), error.hint()).into()
}
