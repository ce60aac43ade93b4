//! Moving ownership to Windlass before an object is applied.

use std::time::Duration;

use windlass_cluster::{ApplyRequest, ClusterError, Expect, FIELD_MANAGER, Failure, FailureKind};
use windlass_model::{FieldChange, Migration, Object, PART_OF, changes, without_chosen};

use crate::context::Unsent;
use crate::failure::{Halt, Unwritten};
use crate::work::Step;
use crate::write::{Writer, were_shown};

/// How often a patch is sent again that met a changed object, a lost answer or a temporary failure. It is safe: each is
/// made from the object as it is then.
const REPEATS: u32 = 4;

const AGAIN: &str = "run the same command again: it plans anew";

impl Writer<'_> {
    /// Moves ownership by one JSON patch that changes nothing else, then makes sure that applying the object will change
    /// what the plan says: what goes with the old ownership was foreseen, and only now the server can say it.
    pub(crate) async fn migrate(&self, step: &Step<'_>, migration: &Migration) -> Result<(), Halt> {
        let live = self.migrated(step, migration).await?;
        let mut object = step.outgoing().clone();
        object.set_label(PART_OF, &self.set_id);
        let reference = object.reference();
        let asked = Expect::Uid(step.uid().unwrap_or_default());
        let request = ApplyRequest { object: &object, expect: asked, force: false, dry_run: true };
        let mut answer = self.context.cluster.apply(request).await;
        let kind = answer.as_ref().err().and_then(ClusterError::failure).map(Failure::kind);
        if let Some(FailureKind::FieldConflict(fields)) = kind
            && were_shown(&fields, step)
        {
            answer = self.context.cluster.apply(ApplyRequest { force: true, ..request }).await;
        }
        let answer = answer.map_err(|error| Unwritten::of(reference, &error, false))?;
        let hidden = |change: &FieldChange| {
            step.action.ignored.iter().any(|ignored| ignored.field == change.path.to_string())
        };
        // Addresses and ports that the server makes up for a dry-run are other ones each time.
        let told = without_chosen(step.object, Some(&live), &answer.object);
        let found: Vec<FieldChange> =
            changes(&live, &told).into_iter().filter(|change| !hidden(change)).collect();
        if found == step.action.delta {
            return Ok(());
        }
        let differing = found
            .iter()
            .filter(|change| !step.action.delta.contains(change))
            .chain(step.action.delta.iter().filter(|change| !found.contains(change)));
        let mut paths: Vec<String> = differing.map(|change| change.path.to_string()).collect();
        paths.dedup();
        let message = format!(
            "ownership has moved, and applying would not change what was planned: {}",
            paths.join(", ")
        );
        Err(Unwritten::stale(reference, message, AGAIN).into())
    }

    /// Sends the patch, again if the object changed meanwhile, and returns the object as it is then.
    async fn migrated(&self, step: &Step<'_>, migration: &Migration) -> Result<Object, Halt> {
        let reference = step.object.reference();
        let mut tries = 0;
        loop {
            let live = self.context.cluster.get(reference).await;
            let live = live.map_err(|error| Unwritten::of(reference, &error, false))?;
            let Some(live) = live.filter(|live| live.uid() == step.uid()) else {
                let message = "was deleted or created again since the plan was made".to_owned();
                return Err(Unwritten::stale(reference, message, AGAIN).into());
            };
            let Some(migrated) = migration.of(&live, FIELD_MANAGER) else { return Ok(live) };
            let patch = migrated.patch(&live).into();
            let request = self.context.cluster.patch(&live, &patch, false);
            let error = match self.context.send("migrate", reference, live.uid(), request).await {
                Ok(answer) if migrated.is_in(&answer.object) => return Ok(answer.object),
                Ok(_) => {
                    let message = "the server did not take the moved ownership over".to_owned();
                    return Err(Unwritten::because(reference, message, "see metadata.managedFields").into());
                }
                Err(Unsent::Stopped) => return Err(Halt::Stopped),
                Err(Unsent::Failed(error)) => error,
            };
            let again = error.failure().is_some_and(|failure| {
                failure.is_transient() || matches!(failure.kind(), FailureKind::Modified)
            });
            if tries >= REPEATS || !(again || error.may_have_landed()) {
                return Err(Unwritten::of(reference, &error, false).into());
            }
            tries += 1;
            if !self.context.pause(Duration::from_millis(100 << tries)).await {
                return Err(Halt::Stopped);
            }
        }
    }
}
