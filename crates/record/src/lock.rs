//! The lock of an environment: one Lease, changed only by compare-and-swap.
//!
//! Server-side apply is no lock: two runs of one manager never conflict, and `force` steals. So the Lease is
//! created by POST and changed by PUT with uid and resource version, of which the server lets exactly one
//! through. Whether a holder is dead is never judged by comparing its clock with ours, but by looking on: a
//! Lease that did not change for its whole duration is abandoned (as client-go's leader election does).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use windlass_cluster::ClusterError;
use windlass_model::{Clock, Object, ObjectRef};

use crate::renewal::{Loss, Renewal, Shared, lock};
use crate::store::{back_off, is_contention};
use crate::{Holder, LockError, LockStatus, RecordError, Store, lease};

/// How often a request whose answer was lost is looked into.
const LOST_ANSWERS: u32 = 3;

/// A lock that is held and kept.
///
/// Dropping it stops the renewal and leaves the Lease to run out; [`Lock::release`] gives it up at once. The
/// renewal's requests share the connection of the [`Store`]: give the lock's store one
/// [apart](windlass_cluster::Cluster::apart), since others may use up all request slots.
#[derive(Debug)]
pub struct Lock {
    store: Store,
    holder: Holder,
    shared: Arc<Shared>,
    renewal: JoinHandle<()>,
}

impl Lock {
    /// Takes the lock of the store's environment and keeps it by renewing it every quarter of `duration`.
    ///
    /// While another run holds it, waits up to `wait`; longer only while that run looks dead, to see whether it
    /// is. A run that asks again for a lock it holds gets it. `on_held` is told, once, who it is that holds it.
    ///
    /// # Errors
    /// [`LockError::Held`] if another run holds it and shows signs of life.
    pub async fn acquire(
        store: &Store,
        holder: Holder,
        duration: Duration,
        wait: Duration,
        clock: Clock,
        on_held: impl FnOnce(&LockStatus),
    ) -> Result<Self, LockError> {
        let mut candidate = Candidate {
            store,
            holder: &holder,
            duration,
            clock,
            observed: None,
            saw_life: false,
            lost_answers: 0,
        };
        let end = Instant::now() + wait;
        let mut on_held = Some(on_held);
        loop {
            let sent = Instant::now();
            match candidate.attempt().await? {
                Attempt::Taken(live) => return Ok(Self::keep(store, holder, duration, clock, *live, sent)),
                Attempt::Again => {}
                Attempt::Held(live) => {
                    if let Some(status) = lease::status(&live, store.environment())
                        && let Some(tell) = on_held.take()
                    {
                        tell(&status);
                    }
                    // Clocks that differ make a live holder look dead for ever; one sign of life settles it.
                    let hopeful = !candidate.saw_life && lease::looks_abandoned(&live, clock.now());
                    if Instant::now() >= end && !hopeful {
                        return Err(held(&live, store));
                    }
                    sleep(poll_every(lease::duration_of(&live))).await;
                }
            }
        }
    }

    fn keep(
        store: &Store,
        holder: Holder,
        duration: Duration,
        clock: Clock,
        live: Object,
        sent: Instant,
    ) -> Self {
        let shared = Arc::new(Shared {
            live: Mutex::new(live),
            lost: CancellationToken::new(),
            loss: Mutex::default(),
        });
        let renewal = Renewal { cluster: store.cluster.clone(), shared: shared.clone(), duration, clock };
        let renewal = tokio::spawn(renewal.run(sent));
        Self { store: store.clone(), holder, shared, renewal }
    }

    /// Returns a signal that is given once the lock is lost. Nothing may be written afterwards.
    pub fn lost(&self) -> CancellationToken {
        self.shared.lost.clone()
    }

    /// Returns who holds the lock.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Says whether the lock is still held.
    ///
    /// # Errors
    /// [`LockError::Lost`] or [`LockError::NotRenewed`] with how it was lost.
    pub fn check(&self) -> Result<(), LockError> {
        if !self.shared.lost.is_cancelled() {
            return Ok(());
        }
        let run = self.holder.run.clone();
        Err(match lock(&self.shared.loss).clone() {
            Some(Loss::NotRenewed(error)) => LockError::NotRenewed { run, error: Box::new(error) },
            Some(Loss::Taken(reason)) => LockError::Lost { run, reason },
            None => LockError::Lost { run, reason: String::new() },
        })
    }

    /// Gives the lock up, so that the next run need not wait.
    ///
    /// # Errors
    /// [`LockError::Lost`] if it is not ours any more. Whatever the error, the lock runs out by itself.
    pub async fn release(self) -> Result<(), LockError> {
        // A renewal in flight is not waited for: of it and the release the server lets only the first through.
        self.renewal.abort();
        self.check()?;
        let ours = lock(&self.shared.live).clone();
        clear(&self.store, self.holder.run.as_str(), Some(ours)).await.map_err(|error| match error {
            LockError::OtherHolder { holder, .. } => LockError::Lost {
                run: self.holder.run.clone(),
                reason: format!("it is held by `{holder}` now"),
            },
            LockError::Free => {
                LockError::Lost { run: self.holder.run.clone(), reason: "it was broken".to_owned() }
            }
            error => error,
        })
    }

    /// Returns who holds the lock of the store's environment, or `None` if nobody does.
    pub async fn status(store: &Store) -> Result<Option<LockStatus>, LockError> {
        let live = store.cluster.get(&reference(store)).await.map_err(RecordError::from)?;
        Ok(live.as_ref().and_then(|live| lease::status(live, store.environment())))
    }

    /// Breaks the lock of a holder, named by the id of its run so that nobody else's is broken by mistake.
    ///
    /// # Errors
    /// [`LockError::OtherHolder`] or [`LockError::Free`] if that run does not hold it.
    pub async fn force_release(store: &Store, holder: &str) -> Result<(), LockError> {
        clear(store, holder, None).await
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// A run that wants the lock.
struct Candidate<'a> {
    store: &'a Store,
    holder: &'a Holder,
    duration: Duration,
    clock: Clock,
    /// Which version of the Lease was seen last, and since when it has not changed.
    observed: Option<(Observation, Instant)>,
    /// Whether the Lease changed while it was looked at.
    saw_life: bool,
    lost_answers: u32,
}

/// What identifies one state of the Lease.
type Observation = (Option<String>, Option<String>);

enum Attempt {
    Taken(Box<Object>),
    Held(Box<Object>),
    Again,
}

impl Candidate<'_> {
    async fn attempt(&mut self) -> Result<Attempt, LockError> {
        let reference = reference(self.store);
        let Some(live) = self.store.cluster.get(&reference).await.map_err(RecordError::from)? else {
            let environment = self.store.environment();
            let fresh = lease::fresh(&reference, environment, self.holder, self.duration, self.clock.now());
            let created = self.store.cluster.create(&fresh).await;
            return self.judge(created.map(|answer| answer.object)).await;
        };
        if !self.may_take(&live) {
            return Ok(Attempt::Held(Box::new(live)));
        }
        let taken = lease::taken(&live, self.holder, self.duration, self.clock.now());
        let replaced = self.store.cluster.replace(&taken).await;
        self.judge(replaced.map(|answer| answer.object)).await
    }

    /// Says whether the Lease is free, ours, or unchanged for as long as its holder asked for.
    fn may_take(&mut self, live: &Object) -> bool {
        match lease::holder_id(live) {
            None => return true,
            Some(id) if id == self.holder.run.as_str() => return true,
            Some(_) => {}
        }
        let now = Instant::now();
        let seen = (live.uid().map(str::to_owned), live.resource_version().map(str::to_owned));
        match &self.observed {
            Some((before, since)) if *before == seen => {
                now.duration_since(*since) >= lease::duration_of(live)
            }
            before => {
                self.saw_life |= before.is_some();
                self.observed = Some((seen, now));
                false
            }
        }
    }

    async fn judge(&mut self, answer: Result<Object, ClusterError>) -> Result<Attempt, LockError> {
        match answer {
            Ok(live) => Ok(Attempt::Taken(Box::new(live))),
            Err(error) if is_contention(&error) => {
                back_off(0).await;
                Ok(Attempt::Again)
            }
            // If the write landed, the Lease is found to be ours.
            Err(error) if error.may_have_landed() && self.lost_answers < LOST_ANSWERS => {
                self.lost_answers += 1;
                back_off(3 + self.lost_answers).await;
                Ok(Attempt::Again)
            }
            Err(error) => Err(RecordError::creating(error, self.store.namespace()).into()),
        }
    }
}

fn reference(store: &Store) -> ObjectRef {
    lease::reference(store.namespace(), store.environment())
}

fn held(live: &Object, store: &Store) -> LockError {
    match lease::status(live, store.environment()) {
        Some(status) => LockError::Held { status: Box::new(status) },
        None => LockError::Free,
    }
}

/// Looks at a held Lease often enough to notice its end soon, and rarely enough to be no burden.
fn poll_every(duration: Duration) -> Duration {
    (duration / 20).clamp(Duration::from_millis(50), Duration::from_secs(2))
}

/// Clears the holder of the Lease if it is `holder`, starting from the Lease as it was last seen.
async fn clear(store: &Store, holder: &str, mut seen: Option<Object>) -> Result<(), LockError> {
    for attempt in 0..crate::store::ATTEMPTS {
        let live = match seen.take() {
            Some(live) => Some(live),
            None => store.cluster.get(&reference(store)).await.map_err(RecordError::from)?,
        };
        let Some(live) = live else { return Err(LockError::Free) };
        match lease::holder_id(&live) {
            None => return if attempt > 0 { Ok(()) } else { Err(LockError::Free) },
            Some(id) if id != holder => {
                return Err(LockError::OtherHolder { holder: id.to_owned(), named: holder.to_owned() });
            }
            Some(_) => {}
        }
        match store.cluster.replace(&lease::free(&live)).await {
            Ok(_) => return Ok(()),
            Err(error) if is_contention(&error) || error.may_have_landed() && attempt < LOST_ANSWERS => {
                back_off(attempt).await;
            }
            Err(error) => return Err(RecordError::from(error).into()),
        }
    }
    let object = reference(store).to_string();
    Err(RecordError::Contended { object, attempts: crate::store::ATTEMPTS }.into())
}
