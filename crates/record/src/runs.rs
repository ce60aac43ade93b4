//! Storing and finding the records of runs.

use jiff::Timestamp;
use windlass_cluster::{ClusterError, Propagation, Selector};
use windlass_model::{Object, ObjectRef, RunId};

use crate::store::{ATTEMPTS, Patience, is_contention};
use crate::{ENVIRONMENT, RECORD, RecordError, RunRecord, Store, map};

const KEY: &str = "record";

/// The runs of an environment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The runs, newest first.
    pub runs: Vec<RunRecord>,
    /// Records that cannot be read, each with the reason.
    pub unreadable: Vec<String>,
}

impl Store {
    /// Stores the record of a run, instead of the one that is there.
    pub async fn save(&self, record: &RunRecord) -> Result<(), RecordError> {
        let reference = self.run_reference(&record.id);
        let text = record.to_text()?;
        let mut patience = Patience::default();
        for attempt in 0..ATTEMPTS {
            match self.put(&reference, &text).await {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let waited = patience.wait(error, attempt).await;
                    waited.map_err(|error| RecordError::creating(error, &self.namespace))?;
                }
            }
        }
        Err(RecordError::Contended { object: reference.to_string(), attempts: ATTEMPTS })
    }

    async fn put(&self, reference: &ObjectRef, text: &str) -> Result<(), ClusterError> {
        let replace = async |live: &Object| self.cluster.replace(&map::with_text(live, KEY, text)).await;
        let stored = if let Some(seen) = self.seen.take(reference) {
            replace(&seen).await?
        } else {
            let new = map::build(reference, &self.environment, "run", KEY, text);
            match self.cluster.create(&new).await {
                Err(error) if is_contention(&error) => match self.cluster.get(reference).await? {
                    Some(live) => replace(&live).await?,
                    None => return Err(error),
                },
                answer => answer?,
            }
        };
        self.seen.keep(stored.object);
        Ok(())
    }

    /// Returns the record of a run, or `None` if there is none.
    pub async fn load(&self, run: &RunId) -> Result<Option<RunRecord>, RecordError> {
        let live = self.cluster.get(&self.run_reference(run)).await?;
        live.as_ref().map(|live| map::read(live, KEY)).transpose()
    }

    /// Returns the newest runs, at most `limit`. A record that cannot be read hides no other.
    pub async fn history(&self, limit: usize) -> Result<History, RecordError> {
        let mut history = History::default();
        for stored in self.records().await?.into_iter().take(limit) {
            match stored.record {
                Ok(record) => history.runs.push(record),
                Err(error) => history.unreadable.push(error.to_string()),
            }
        }
        Ok(history)
    }

    /// Deletes all records but the newest `keep` and that of the run that did not complete, which says where a rollback
    /// begins; returns how many it deleted.
    pub async fn trim(&self, keep: usize) -> Result<usize, RecordError> {
        let surplus: Vec<Stored> = self.records().await?.into_iter().skip(keep).collect();
        if surplus.is_empty() {
            return Ok(0);
        }
        let current = self.state().await?.current.map(|run| self.run_reference(&run));
        let surplus = surplus.into_iter();
        let mut deleted = 0;
        for Stored { live, .. } in surplus.filter(|stored| Some(stored.live.reference()) != current.as_ref())
        {
            let resource = self.cluster.resource_of(live.reference()).await?;
            match self.cluster.delete(&resource, &live, Propagation::Background, false).await {
                Ok(_) => deleted += 1,
                // Someone is writing it just now: the next run trims it.
                Err(error) if is_contention(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(deleted)
    }

    /// Returns the records of all runs, newest first.
    async fn records(&self) -> Result<Vec<Stored>, RecordError> {
        let resource = self.cluster.resource_of(&map::reference(&self.namespace, "")).await?;
        let labels = format!("{RECORD}=run,{ENVIRONMENT}={}", self.environment);
        let selector = Selector { namespace: Some(&self.namespace), labels: Some(&labels), fields: None };
        let listed = self.cluster.list(&resource, selector).await?.objects.into_iter();
        let mut records: Vec<Stored> =
            listed.map(|live| Stored { record: map::read(&live, KEY), live }).collect();
        records.sort_by(|a, b| b.age().cmp(&a.age()));
        Ok(records)
    }

    fn run_reference(&self, run: &RunId) -> ObjectRef {
        map::reference(&self.namespace, &format!("windlass-run-{run}"))
    }
}

/// A run's ConfigMap and what it holds.
struct Stored {
    live: Object,
    record: Result<RunRecord, RecordError>,
}

impl Stored {
    /// Returns what sorts records by their age. A run's id begins with the second of its start; which of two runs
    /// of one second came first is only in the record.
    fn age(&self) -> (&str, Option<Timestamp>) {
        let name = self.live.reference().name.as_str();
        let second = name.rsplit_once('-').map_or(name, |(second, _)| second);
        (second, self.record.as_ref().ok().map(|record| record.started_at))
    }
}
