//! Keeping a lock: renewing it, and noticing when it is gone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{Clock, Object};

use crate::lease;
use crate::store::is_contention;

/// What the renewal and its lock share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The Lease as it was last seen, for the next compare-and-swap.
    pub(crate) live: Mutex<Object>,
    /// Cancelled once the lock is lost.
    pub(crate) lost: CancellationToken,
    /// How it was lost.
    pub(crate) loss: Mutex<Option<Loss>>,
}

/// How a lock was lost.
#[derive(Debug, Clone)]
pub(crate) enum Loss {
    /// Nobody holds it, or someone else.
    Taken(String),
    /// It could not be renewed in time, for this reason.
    NotRenewed(ClusterError),
}

/// The task that renews a lock.
pub(crate) struct Renewal {
    pub(crate) cluster: Cluster,
    pub(crate) shared: Arc<Shared>,
    pub(crate) duration: Duration,
    pub(crate) clock: Clock,
}

/// How one renewal ended.
enum Renewed {
    Yes(Box<Object>),
    /// It is certain that the lock is held by nobody, or by someone else.
    Lost(String),
    /// Something else changed the Lease: try again soon.
    Changed,
    /// It is not known: try again soon.
    Unknown(ClusterError),
}

impl Renewal {
    /// Renews every quarter of the duration, until the task is aborted or the lock is lost.
    ///
    /// `confirmed` is when the last request that succeeded was sent. Three quarters of the duration later the
    /// lock counts as lost, although nobody else can take it before the last quarter has passed too: what is
    /// in flight then still ends under the lock.
    pub(crate) async fn run(self, mut confirmed: Instant) {
        let mut pause = self.duration / 4;
        let mut last = None;
        loop {
            let deadline = confirmed + self.duration * 3 / 4;
            let wake = (Instant::now() + pause).min(deadline);
            sleep_until(wake).await;
            let sent = Instant::now();
            let answer = timeout_at(deadline, self.renew()).await;
            match answer {
                Ok(Renewed::Yes(live)) => {
                    *lock(&self.shared.live) = *live;
                    confirmed = sent;
                    pause = self.duration / 4;
                    last = None;
                }
                Ok(Renewed::Lost(reason)) => return self.lose(Loss::Taken(reason)),
                Ok(Renewed::Changed) if Instant::now() < deadline => pause = self.duration / 16,
                Ok(Renewed::Changed) => {
                    return self.lose(Loss::Taken("its Lease was changed again and again".to_owned()));
                }
                Ok(Renewed::Unknown(error)) if Instant::now() < deadline => {
                    tracing::warn!(%error, "the lock could not be renewed, trying again");
                    pause = self.duration / 16;
                    last = Some(error);
                }
                Ok(Renewed::Unknown(error)) => return self.lose(Loss::NotRenewed(error)),
                Err(_) => {
                    let (what, seconds) = ("the renewal of the lock".to_owned(), self.duration.as_secs());
                    let silence = || ClusterError::Timeout { what, seconds };
                    return self.lose(Loss::NotRenewed(last.unwrap_or_else(silence)));
                }
            }
        }
    }

    fn lose(&self, loss: Loss) {
        *lock(&self.shared.loss) = Some(loss);
        self.shared.lost.cancel();
    }

    async fn renew(&self) -> Renewed {
        let live = lock(&self.shared.live).clone();
        match self.cluster.replace(&lease::renewed(&live, self.clock.now())).await {
            Ok(answer) => Renewed::Yes(Box::new(answer.object)),
            Err(error) if is_contention(&error) => self.look_again(&live).await,
            Err(error) => Renewed::Unknown(error),
        }
    }

    /// Someone changed the Lease: our own renewal whose answer was lost, someone's annotation, or a thief.
    async fn look_again(&self, ours: &Object) -> Renewed {
        match self.cluster.get(ours.reference()).await {
            Ok(None) => Renewed::Lost("its Lease was deleted".to_owned()),
            Ok(Some(live)) if lease::holder_id(&live) != lease::holder_id(ours) => {
                let who = lease::holder_id(&live).unwrap_or("nobody");
                Renewed::Lost(format!("its Lease is held by `{who}` now"))
            }
            Ok(Some(live)) if live.uid() != ours.uid() => Renewed::Lost("its Lease was replaced".to_owned()),
            Ok(Some(live)) => {
                *lock(&self.shared.live) = live;
                sleep(Duration::from_millis(20)).await;
                Renewed::Changed
            }
            Err(error) => Renewed::Unknown(error),
        }
    }
}

/// Locks a mutex that is never held while something can fail.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
