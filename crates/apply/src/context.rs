//! What applying and pruning are given, and the one way in which they write.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{ApplySet, Sink};
use windlass_model::{
    EnvironmentName, Event, Level, Mutation, MutationResult, Object, ObjectRef, Stage, UnitName,
};

use crate::failure::{self, Halt, Unwritten};

/// What applying and pruning need beside the plan and the rendering.
#[derive(Clone)]
pub struct Context<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// Where events go; it has every write on disk before the write is sent.
    pub sink: &'a dyn Sink,
    /// Says that nothing more may be sent: a signal, a lost lock, a journal that cannot be written.
    pub stop: CancellationToken,
    /// The version of Windlass, for the tooling annotation of the sets.
    pub version: &'a str,
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The namespace of the sets' parents.
    pub record_namespace: &'a str,
    /// How many objects are written at once.
    pub concurrency: usize,
    /// How long the Services that webhooks call may take until they can answer.
    pub backend_limit: Duration,
}

/// A write that was not carried out, or of which that is not known.
pub(crate) enum Unsent {
    /// Not sent, because the run was told to stop.
    Stopped,
    /// Sent, and answered with a failure or not at all.
    Failed(ClusterError),
}

impl Context<'_> {
    /// Sends a write between its two events. Whoever takes the first may still stop it.
    pub(crate) async fn send<T>(
        &self,
        verb: &str,
        object: &ObjectRef,
        uid: Option<&str>,
        request: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, Unsent> {
        if self.stop.is_cancelled() {
            return Err(Unsent::Stopped);
        }
        let mutation =
            Mutation { verb: verb.to_owned(), object: object.clone(), uid: uid.map(str::to_owned) };
        self.sink.emit(Event::Sending { mutation: mutation.clone() });
        if self.stop.is_cancelled() {
            let message = "not sent: the run was told to stop".to_owned();
            self.sink.emit(Event::Answered { mutation, result: MutationResult::Failed { message } });
            return Err(Unsent::Stopped);
        }
        let answer = request.await;
        let result = match &answer {
            Ok(_) => MutationResult::Done,
            Err(error) if error.may_have_landed() => {
                MutationResult::Unknown { message: failure::words(object, error) }
            }
            Err(error) => MutationResult::Failed { message: failure::words(object, error) },
        };
        self.sink.emit(Event::Answered { mutation, result });
        answer.map_err(|error| match error {
            ClusterError::Stopped { .. } => Unsent::Stopped,
            error => Unsent::Failed(error),
        })
    }

    /// Waits; says `false` if the run was told to stop meanwhile.
    pub(crate) async fn pause(&self, time: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(time) => true,
        }
    }

    /// Waits, or says that the run was told to stop.
    pub(crate) async fn pause_or_stop(&self, time: Duration) -> Result<(), Halt> {
        if self.pause(time).await { Ok(()) } else { Err(Halt::Stopped) }
    }

    /// Waits after a write whose outcome is not known, and returns the object as it is then. While the server does
    /// not answer, waits again; `repeats` counts all waits for one object.
    pub(crate) async fn look_up(
        &self,
        object: &ObjectRef,
        error: ClusterError,
        repeats: &mut u32,
    ) -> Result<Option<Object>, Halt> {
        let mut error = error;
        loop {
            *repeats += 1;
            let pause = error.pause_before_repeat(*repeats);
            self.pause_or_stop(pause.ok_or_else(|| Unwritten::of(object, &error, false))?).await?;
            match self.cluster.get(object).await {
                Ok(live) => return Ok(live),
                Err(again) => error = again,
            }
        }
    }

    pub(crate) fn warn(&self, text: String) {
        self.sink.emit(Event::Message { level: Level::Warning, text });
    }

    pub(crate) fn progress(&self, stage: Stage, done: usize, total: usize, text: String) {
        self.sink.emit(Event::Progress { stage, done, total, text });
    }

    /// Returns the empty set of a unit, which knows the set's id and parent.
    pub(crate) fn set_of(&self, unit: &UnitName) -> ApplySet {
        ApplySet::empty(self.environment.clone(), unit.clone(), self.record_namespace)
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({} on {:?})", self.environment, self.cluster)
    }
}
