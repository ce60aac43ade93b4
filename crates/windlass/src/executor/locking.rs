//! Taking the lock of an environment.

use std::time::Duration;

use windlass_model::{CommitId, Level};
use windlass_record::{Holder, Lock, LockStatus};

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
