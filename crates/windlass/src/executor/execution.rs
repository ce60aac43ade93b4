//! Stages 5 to 7 and pruning: carries an approved plan out.

use tokio_util::sync::CancellationToken;
use windlass_apply::{Applied, Context, Pruned};
use windlass_model::{ApprovedPlan, ExitCode, Operation, Stage};
use windlass_record::Lock;
use windlass_rollout::{SmokeOptions, Target};

use crate::error::CommandError;
use crate::executor::desired::Desired;
use crate::executor::stage::{skip, stage};
use crate::session::{Session, VERSION};

/// Objects that are written at once inside a rank.
const CONCURRENCY: usize = 8;

/// Applies, waits, probes, and only then prunes.
pub(crate) async fn carry_out(
    session: &Session,
    lock: &Lock,
    desired: &Desired,
    approved: &ApprovedPlan,
) -> Result<(), CommandError> {
    let stop = stop_signal(session, lock);
    let cluster = session.cluster.until(stop.clone());
    let context = Context {
        cluster: &cluster,
        sink: &*session.reporter,
        stop: stop.clone(),
        version: VERSION,
        environment: &session.name,
        record_namespace: &session.settings.record.namespace,
        concurrency: CONCURRENCY,
        backend_limit: session.settings.timeouts.rollout.get(),
    };
    let applied = stage(&*session.reporter, Stage::Apply, async {
        let applied = windlass_apply::apply(approved, &desired.rendering, &context).await?;
        let summary = match applied.written().len() {
            0 => "nothing to write".to_owned(),
            count => format!("{count} object{} written", if count == 1 { "" } else { "s" }),
        };
        Ok((applied, summary))
    })
    .await?;
    roll_out(session, desired, &applied, &context).await?;
    smoke(session, desired, &stop).await?;
    prune(session, desired, approved, &applied, &context).await
}

/// Stops on a signal, and when the lock is lost.
fn stop_signal(session: &Session, lock: &Lock) -> CancellationToken {
    let stop = session.stop.child_token();
    let (lost, both) = (lock.lost(), stop.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = lost.cancelled() => both.cancel(),
            () = both.cancelled() => {}
        }
    });
    stop
}

async fn roll_out(
    session: &Session,
    desired: &Desired,
    applied: &Applied,
    context: &Context<'_>,
) -> Result<(), CommandError> {
    let targets = targets(desired, applied);
    let left = left_to_operators(desired);
    if targets.is_empty() {
        skip(&*session.reporter, Stage::Rollout, &format!("nothing that rolls out{left}"));
        return Ok(());
    }
    stage(&*session.reporter, Stage::Rollout, async {
        let options = windlass_rollout::Options {
            deadline: session.settings.timeouts.rollout.get(),
            sink: &*session.reporter,
            stop: context.stop.clone(),
            grace: windlass_rollout::Grace::default(),
            rescue: session.settings.rollout.rescue_stuck_pods,
        };
        let count = targets.len();
        windlass_rollout::wait(context.cluster, targets, options).await?;
        Ok(((), format!("{count} object{} ready{left}", if count == 1 { "" } else { "s" })))
    })
    .await
}

/// Says of how many objects nothing is known, so that nobody counts them among the ready ones.
fn left_to_operators(desired: &Desired) -> String {
    let objects = desired.rendering.objects().map(|(_, object)| object);
    match objects.filter(|object| windlass_rollout::is_left_to_operator(object)).count() {
        0 => String::new(),
        1 => "; 1 custom resource is left to its operator and not judged".to_owned(),
        count => format!("; {count} custom resources are left to their operators and not judged"),
    }
}

/// Everything in the rendering that becomes ready some time after it was applied, changed or not: a delivery
/// without changes onto a broken workload is no success.
fn targets(desired: &Desired, applied: &Applied) -> Vec<Target> {
    desired
        .rendering
        .objects()
        .map(|(_, object)| object)
        .filter(|object| windlass_rollout::is_waited_for(object))
        .map(|object| {
            let live = applied.live(object.reference());
            Target {
                object: object.reference().clone(),
                uid: live.map(|live| live.uid.clone()),
                generation: live.and_then(|live| live.generation),
                changed: applied.written().contains(object.reference()),
            }
        })
        .collect()
}

async fn smoke(session: &Session, desired: &Desired, stop: &CancellationToken) -> Result<(), CommandError> {
    let environment = session.name.as_str();
    let here = |environments: &[String]| {
        environments.is_empty() || environments.iter().any(|name| name == environment)
    };
    let count = desired.repository.smoke.iter().filter(|probe| here(&probe.environments)).count();
    if count == 0 {
        skip(&*session.reporter, Stage::Smoke, "windlass.yaml names no probe for this environment");
        return Ok(());
    }
    stage(&*session.reporter, Stage::Smoke, async {
        let options = SmokeOptions {
            deadline: session.settings.timeouts.smoke.get(),
            sink: &*session.reporter,
            stop: stop.clone(),
        };
        windlass_rollout::smoke(
            &session.cluster,
            &desired.repository.smoke,
            environment,
            &desired.tree,
            options,
        )
        .await?;
        Ok(((), format!("{count} probe{} passed", if count == 1 { "" } else { "s" })))
    })
    .await
}

async fn prune(
    session: &Session,
    desired: &Desired,
    approved: &ApprovedPlan,
    applied: &Applied,
    context: &Context<'_>,
) -> Result<(), CommandError> {
    let planned = approved.plan().counts().of(Operation::Prune);
    let work = async {
        let pruned = windlass_apply::prune(applied, approved, &desired.rendering, context).await?;
        if !pruned.postponed.is_empty() {
            return Err(postponed(&pruned));
        }
        let summary = format!("{} of {planned} deleted", pruned.deleted.len());
        Ok(((), summary))
    };
    if planned == 0 {
        // The sets are still shrunk to what is there: an interrupted run may have left them wider.
        work.await?;
        skip(&*session.reporter, Stage::Prune, "nothing to delete");
        return Ok(());
    }
    stage(&*session.reporter, Stage::Prune, work).await?;
    roll_out(session, desired, applied, context).await
}

/// Makes the error of a prune that could not go on behind objects that are still there.
fn postponed(pruned: &Pruned) -> CommandError {
    let what = format!("{} deletions wait for objects that are still there", pruned.postponed.len());
    let hint =
        "the warnings name them: see what keeps them (their operator must run to finish), then deliver again";
    let error = CommandError::new(ExitCode::ApplyFailed, what, hint);
    pruned.postponed.iter().fold(error, |error, object| error.detail(format!("not deleted yet: {object}")))
}
