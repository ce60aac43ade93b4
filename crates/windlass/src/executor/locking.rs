//! Taking the lock of an environment, and giving it up.

use std::time::Duration;

use windlass_model::{CommitId, ExitCode, Level};
use windlass_record::{Holder, Lock, LockError, LockStatus};

use crate::error::CommandError;
use crate::session::Session;

/// Takes the lock for this run, within `wait`; says who holds it, if it has to be waited for.
pub(crate) async fn lock(
    session: &Session,
    commit: Option<CommitId>,
    wait: Duration,
) -> Result<Lock, CommandError> {
    let holder = Holder {
        run: session.run.clone(),
        actor: session.surroundings.actor(),
        host: session.surroundings.host(),
        pid: std::process::id(),
        commit,
    };
    let tell = |status: &LockStatus| {
        let text =
            format!("the lock is held by {status}; waiting for it, or to see whether that run is dead");
        session.reporter.say(Level::Info, text);
    };
    let lease = session.settings.timeouts.lease.get();
    let lock = Lock::acquire(&session.store, holder, lease, wait, session.clock, tell);
    session.unless_stopped(lock).await
}

/// Gives the lock up after `work` that was done under it; a lock that was lost explains work that was stopped.
pub(crate) async fn unlock<T>(
    session: &Session,
    lock: Lock,
    work: Result<T, CommandError>,
) -> Result<T, CommandError> {
    let lost = lock.check().err();
    match lock.release().await {
        Ok(()) | Err(LockError::Lost { .. } | LockError::NotRenewed { .. }) => {}
        Err(error) => {
            let text = format!("the lock could not be released and runs out by itself: {error}");
            session.reporter.say(Level::Warning, text);
        }
    }
    match (work, lost) {
        (Err(error), Some(lost)) if error.code == ExitCode::Interrupted => Err(lost.into()),
        (work, _) => work,
    }
}
