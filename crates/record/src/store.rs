//! Reading and changing where an environment stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_cluster::{Cluster, ClusterError, Failure, FailureKind};
use windlass_model::{EnvironmentName, Object, ObjectRef};

use crate::renewal::lock;
use crate::{EnvironmentState, RecordError, map};

/// How often a change is tried against other writers.
pub(crate) const ATTEMPTS: u32 = 12;
const KEY: &str = "state";
/// The version of the state's form that this program writes.
const SCHEMA: u32 = 1;

/// The records of one environment in one namespace of a cluster.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: String,
    pub(crate) environment: EnvironmentName,
    pub(crate) seen: Seen,
}

/// ConfigMaps as they were read or written last, by name. A change goes out from there without reading again: if
/// someone else was faster, the server refuses it, and then it is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<HashMap<String, Object>>>);

impl Seen {
    pub(crate) fn keep(&self, live: Object) {
        lock(&self.0).insert(live.reference().name.clone(), live);
    }

    /// Takes one out: whoever cannot say how it is afterwards leaves nothing behind.
    pub(crate) fn take(&self, object: &ObjectRef) -> Option<Object> {
        lock(&self.0).remove(&object.name)
    }
}

/// A state with the version of its form.
#[derive(Serialize, Deserialize)]
struct Versioned {
    schema: u32,
    #[serde(flatten)]
    state: EnvironmentState,
}

impl Store {
    /// Names the records of an environment; sends no request yet.
    pub fn new(cluster: Cluster, namespace: &str, environment: EnvironmentName) -> Self {
        Self { cluster, namespace: namespace.to_owned(), environment, seen: Seen::default() }
    }

    /// Returns the environment.
    pub fn environment(&self) -> &EnvironmentName {
        &self.environment
    }

    /// Returns the record namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Says whether the record namespace is there.
    ///
    /// # Errors
    /// [`RecordError::NamespaceMissing`] if it is not.
    pub async fn check(&self) -> Result<(), RecordError> {
        let namespace = ObjectRef {
            kind: windlass_model::GroupKind::new("", "Namespace"),
            version: "v1".to_owned(),
            namespace: None,
            name: self.namespace.clone(),
        };
        match self.cluster.get(&namespace).await? {
            Some(_) => Ok(()),
            None => Err(RecordError::NamespaceMissing { namespace: self.namespace.clone() }),
        }
    }

    /// Returns where the environment stands; the default if nothing was ever delivered to it.
    pub async fn state(&self) -> Result<EnvironmentState, RecordError> {
        let Some(live) = self.cluster.get(&self.reference()).await? else {
            return Ok(EnvironmentState::default());
        };
        let state = read(&live);
        self.seen.keep(live);
        state
    }

    /// Changes where the environment stands and returns the new state together with what `change` returned.
    ///
    /// `change` may be called several times, each time with the newest state: a change that another writer
    /// makes meanwhile is never lost. A change that changes nothing is not sent. A server that does not answer is
    /// waited for, a few seconds.
    pub async fn update<T>(
        &self,
        mut change: impl FnMut(&mut EnvironmentState) -> T,
    ) -> Result<(EnvironmentState, T), RecordError> {
        let mut sent = None;
        let mut patience = Patience::default();
        for attempt in 0..ATTEMPTS {
            match self.attempt(&mut change, &mut sent).await {
                Ok(done) => return Ok(done),
                Err(RecordError::Cluster(error)) => {
                    if is_contention(&error) {
                        // It was refused: an equal state that is there next is another writer's.
                        sent = None;
                    }
                    patience.wait(error, attempt).await.map_err(|error| self.creating(error))?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(RecordError::Contended { object: self.reference().to_string(), attempts: ATTEMPTS })
    }

    /// Tries once. `sent` keeps what was sent last: if that is what is there, its answer was lost and nothing else.
    async fn attempt<T>(
        &self,
        change: &mut impl FnMut(&mut EnvironmentState) -> T,
        sent: &mut Option<(EnvironmentState, T)>,
    ) -> Result<(EnvironmentState, T), RecordError> {
        let mut seen = self.seen.take(&self.reference());
        let (live, after, result) = loop {
            let is_fresh = seen.is_none();
            let live = match seen.take() {
                Some(live) => Some(live),
                None => self.cluster.get(&self.reference()).await?,
            };
            let before = live.as_ref().map(read).transpose()?.unwrap_or_default();
            if let Some(landed) = sent.take_if(|(after, _)| *after == before) {
                return Ok(landed);
            }
            let mut after = before.clone();
            let result = change(&mut after);
            if live.is_none() || after != before {
                break (live, after, result);
            }
            // Nothing is sent, so the server cannot object: what was seen earlier proves nothing.
            if is_fresh {
                return Ok((after, result));
            }
        };
        let (after, _) = sent.insert((after, result));
        self.store(live.as_ref(), after).await?;
        sent.take()
            .ok_or_else(|| RecordError::Contended { object: self.reference().to_string(), attempts: 1 })
    }

    fn creating(&self, error: ClusterError) -> RecordError {
        RecordError::creating(error, &self.namespace)
    }

    async fn store(&self, live: Option<&Object>, state: &EnvironmentState) -> Result<(), ClusterError> {
        let text = serde_json::to_string(&Versioned { schema: SCHEMA, state: state.clone() })
            .unwrap_or_else(|_| unreachable!("a state holds only texts and lists"));
        let answer = if let Some(live) = live {
            self.cluster.replace(&map::with_text(live, KEY, &text)).await?
        } else {
            let object = map::build(&self.reference(), &self.environment, "state", KEY, &text);
            self.cluster.create(&object).await?
        };
        self.seen.keep(answer.object);
        Ok(())
    }

    fn reference(&self) -> ObjectRef {
        map::reference(&self.namespace, &format!("windlass-{}", self.environment))
    }
}

fn read(live: &Object) -> Result<EnvironmentState, RecordError> {
    let versioned: Versioned = map::read(live, KEY)?;
    if versioned.schema > SCHEMA {
        let reason =
            format!("it has form {}, this version of Windlass knows form {SCHEMA}", versioned.schema);
        return Err(RecordError::Unreadable { object: live.reference().to_string(), reason });
    }
    Ok(versioned.state)
}

/// Says whether another writer came first: the next attempt may succeed.
pub(crate) fn is_contention(error: &ClusterError) -> bool {
    let kind = error.failure().map(Failure::kind);
    matches!(kind, Some(FailureKind::Modified | FailureKind::Gone | FailureKind::NotFound))
}

/// How long a record is tried to be written against other writers and a server that does not answer.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// How often an outcome was not known.
    unknown: u32,
}

impl Patience {
    /// Waits after a failure of the `attempt`-th attempt, counted from 0, as long as the next one may succeed.
    ///
    /// # Errors
    /// The failure, if it is final.
    pub(crate) async fn wait(&mut self, error: ClusterError, attempt: u32) -> Result<(), ClusterError> {
        if is_contention(&error) {
            back_off(attempt).await;
            return Ok(());
        }
        self.unknown += 1;
        match error.pause_before_repeat(self.unknown) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(error),
        }
        Ok(())
    }
}

/// Waits longer with each attempt, and each writer for another time.
pub(crate) async fn back_off(attempt: u32) {
    let base = 10_u64 << attempt.min(6);
    tokio::time::sleep(Duration::from_millis(base + rand::random_range(0..=base))).await;
}
