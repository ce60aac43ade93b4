//! A delivery from end to end: what `run`, `apply` and `rollback` share.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use windlass_model::{Digest, Event, ExitCode, Level, Plan, Sink as _};
use windlass_record::{EnvironmentState, Lock, RunRecord};
use windlass_report::{Diff, PlanText, plan_text};

use crate::args::DeliveryArguments;
use crate::ci;
use crate::error::CommandError;
use crate::executor::approval::{self, Decision, Typed};
use crate::executor::desired::{self, Desired, From};
use crate::executor::planning::{self, Purpose};
use crate::executor::{execution, locking, papers, record};
use crate::session::Session;

/// What is to be delivered, and how.
pub(crate) struct Order {
    /// Where the desired state comes from.
    pub(crate) from: From,
    /// Why this goes back to an older commit, if it does.
    pub(crate) rollback: Option<String>,
    /// The change digest that the plan must have, if the caller names one.
    pub(crate) digest: Option<Digest>,
}

/// Delivers, and stores how it ended.
pub(crate) async fn deliver(
    session: &Session,
    arguments: &DeliveryArguments,
    order: Order,
) -> Result<ExitCode, CommandError> {
    let mut run_record = record::begin(session, order.rollback.as_deref());
    let result = Delivery { session, arguments, order, record: &mut run_record }.run().await;
    record::finish(session, &mut run_record, &result).await;
    let outcome = result.as_ref().map_or_else(|error| error.code, |code| *code);
    session.reporter.emit(Event::RunFinished { outcome: outcome.name().to_owned() });
    let folder = session.report_folder(arguments.out.as_deref());
    if folder.is_dir() {
        session.shell.talk(&format!("report: {}\n", folder.display()));
    }
    if let Ok(code) = result {
        session.shell.result("", || serde_json::to_value(&run_record).unwrap_or_default(), code);
    }
    result
}

/// One delivery under way.
struct Delivery<'a> {
    session: &'a Session,
    arguments: &'a DeliveryArguments,
    order: Order,
    record: &'a mut RunRecord,
}

/// What the first two stages found.
struct Prepared {
    folder: PathBuf,
    state: EnvironmentState,
    desired: Desired,
    policies: Digest,
    since: Instant,
}

/// How long a verified commit and an open gate are believed in without the lock.
const FRESH: Duration = Duration::from_secs(10);

/// How an attempt under the lock ended.
enum Attempt {
    /// Everything is done.
    Done,
    /// A human must be asked, and can be.
    Ask(Box<Plan>),
}

impl Delivery<'_> {
    async fn run(&mut self) -> Result<ExitCode, CommandError> {
        let session = self.session;
        let folder = session.reports(self.arguments.out.as_deref())?;
        session.open_journal(&folder)?;
        let state = session.store.state().await?;
        if let Some(run) = &state.current {
            let text = format!("run {run} did not complete; this run goes on from what it left");
            session.reporter.say(Level::Info, text);
        }
        // What can be refused without the lock is.
        let mut prepared = self.prepare(folder, state).await?;
        let mut typed: Option<Typed> = None;
        loop {
            // The lock is never held while a human thinks, so everything is planned again afterwards.
            let lock = self.lock(&prepared).await?;
            let attempt = self.locked(&lock, &mut prepared, typed.as_ref()).await;
            match locking::unlock(self.session, lock, attempt).await? {
                Attempt::Done => return Ok(ExitCode::Ok),
                Attempt::Ask(plan) => typed = Some(approval::ask(self.session, plan).await?),
            }
        }
    }

    /// Stages 1 and 2.
    async fn prepare(&mut self, folder: PathBuf, state: EnvironmentState) -> Result<Prepared, CommandError> {
        let session = self.session;
        let since = Instant::now();
        let obtained = desired::obtain(session, self.order.from.clone(), &state);
        let desired = session.unless_stopped(obtained).await?;
        record::note_source(self.record, &desired);
        let policies = session.unless_stopped(planning::gate(session)).await?.policies();
        Ok(Prepared { folder, state, desired, policies, since })
    }

    /// Prepares again under the lock if another run came in between or much time has passed, then goes on.
    async fn locked(
        &mut self,
        lock: &Lock,
        prepared: &mut Prepared,
        typed: Option<&Typed>,
    ) -> Result<Attempt, CommandError> {
        let state = self.session.store.state().await?;
        if self.order.rollback.is_some() && state.last_completed != prepared.state.last_completed {
            let what = "another run completed meanwhile: what to go back to is no longer the same";
            return Err(CommandError::new(
                ExitCode::Stale,
                what,
                "look at `windlass history`, then decide again",
            ));
        }
        if state != prepared.state || prepared.since.elapsed() > FRESH {
            *prepared = self.prepare(prepared.folder.clone(), state).await?;
        }
        self.under_lock(lock, prepared, typed).await
    }

    async fn lock(&self, prepared: &Prepared) -> Result<Lock, CommandError> {
        let wait = self.arguments.lock_timeout.unwrap_or(self.session.settings.timeouts.lock).get();
        locking::lock(self.session, prepared.desired.provenance.commit().cloned(), wait).await
    }

    /// Stages 3 to 7.
    async fn under_lock(
        &mut self,
        lock: &Lock,
        prepared: &Prepared,
        typed: Option<&Typed>,
    ) -> Result<Attempt, CommandError> {
        let session = self.session;
        let desired = &prepared.desired;
        let purpose = self.order.rollback.as_deref().map_or(Purpose::Delivery, Purpose::Rollback);
        let mut plan = planning::plan(session, desired, Some(prepared.policies), purpose).await?;
        plan.refusals.extend(windlass_plan::freezes(&plan, &session.settings.guards));
        record::note_plan(self.record, &plan);
        papers::write_plan(&prepared.folder, "plan", &plan)?;
        ci::publish_plan(&plan, Some(&prepared.folder), &session.surroundings);
        self.show(&plan, typed.is_some());
        if let Some(refusal) = planning::refusal(&plan) {
            return Err(refusal);
        }
        let folders = || self.arguments.approvals.iter().chain(&session.settings.approval.directory);
        let decision = match typed {
            Some(typed) => approval::confirm(session, plan, &prepared.state, typed)?,
            None => approval::decide(session, plan, &prepared.state, folders(), &prepared.folder)?,
        };
        let approved = match decision {
            Decision::Approved(approved) => approved,
            Decision::Ask(plan) => return Ok(Attempt::Ask(plan)),
        };
        if let Some(digest) = self.order.digest {
            approval::check_digest(session, &approved, digest, folders())?;
        }
        record::note_approval(self.record, &approved);
        session.check_stop()?;
        lock.check()?;
        record::announce(session, self.record, desired, &approved).await?;
        execution::carry_out(session, lock, desired, &approved).await?;
        lock.check()?;
        record::complete(session, desired, &approved).await?;
        Ok(Attempt::Done)
    }

    /// Shows the plan to people, unless they have just seen it.
    fn show(&self, plan: &Plan, seen: bool) {
        if !seen && (plan.has_changes() || !plan.is_executable()) {
            let palette = self.session.shell.palette();
            let options = PlanText { drift: false, palette, diff: Diff::Fields, fields: 12, objects: 60 };
            self.session.shell.talk(&plan_text(plan, options));
        }
    }
}
