//! Writing one object: as the plan says, once, and surely.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::{Answer, ApplyRequest, ClusterError, Expect, FIELD_MANAGER, Failure, FailureKind};
use windlass_model::{Conflict, GroupKind, Object, Operation, PART_OF, apply_entry};

use crate::Context;
use crate::context::Unsent;
use crate::failure::{Halt, Unwritten};
use crate::webhook::can_answer;
use crate::work::Step;

/// How often fields are taken over of an object that changes meanwhile.
const TAKEOVERS: u32 = 4;
/// How long a kind may take to be served after its definition was written.
const KIND_LIMIT: Duration = Duration::from_secs(15);
/// How long a new field may take to be known after its definition was written (250 ms measured on 1.36).
const FIELD_LIMIT: Duration = Duration::from_secs(3);
/// How long a namespace may take to be seen by all after it was created.
const NAMESPACE_LIMIT: Duration = Duration::from_secs(3);
/// How long a service account may take to be seen by the admission of pods.
const ACCOUNT_LIMIT: Duration = Duration::from_secs(5);

/// What this run has written so far, as far as later writes depend on it.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// The kinds whose definitions were written.
    pub(crate) kinds: BTreeSet<GroupKind>,
    /// The namespaces that were written.
    pub(crate) namespaces: BTreeSet<String>,
}

/// Writes objects of one unit.
pub(crate) struct Writer<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) set_id: String,
    pub(crate) fresh: &'a Fresh,
}

/// One object's way to being written.
struct Try<'a> {
    step: Step<'a>,
    /// The object as it is sent.
    object: Object,
    /// The uid that the object must have; `None` if there must be none.
    uid: Option<String>,
    /// The version in which fields are taken over, whatever others own: just those that the plan showed.
    forced: Option<String>,
    /// Whether an earlier attempt may have created the object.
    may_be_ours: bool,
    repeats: u32,
    since: Option<Instant>,
}

impl Writer<'_> {
    /// Writes one object and returns it as it is then.
    pub(crate) async fn write(&self, step: Step<'_>) -> Result<Answer, Halt> {
        can_answer(step.object, self.context).await?;
        if let Some(migration) = &step.action.migration {
            self.migrate(&step, migration).await?;
        }
        let mut object = step.outgoing().clone();
        object.set_label(PART_OF, &self.set_id);
        let uid = step.uid().map(str::to_owned);
        let mut attempt =
            Try { step, object, uid, forced: None, may_be_ours: false, repeats: 0, since: None };
        loop {
            let error = match self.send(&attempt).await {
                Ok(answer) => return settled(answer),
                Err(Unsent::Stopped) => return Err(Halt::Stopped),
                Err(Unsent::Failed(error)) => error,
            };
            self.prepare_next(&mut attempt, error).await?;
        }
    }

    async fn send(&self, attempt: &Try<'_>) -> Result<Answer, Unsent> {
        let (verb, expect) = match (&attempt.uid, &attempt.forced) {
            (Some(uid), Some(version)) => ("update", Expect::Version(uid, version)),
            (Some(uid), None) => ("update", Expect::Uid(uid)),
            (None, _) => ("create", Expect::Absent),
        };
        let force = attempt.forced.is_some();
        let request = ApplyRequest { object: &attempt.object, expect, force, dry_run: false };
        let answer = self.context.cluster.apply(request);
        self.context.send(verb, attempt.object.reference(), attempt.uid.as_deref(), answer).await
    }

    /// Prepares the next attempt, or says why there is none.
    async fn prepare_next(&self, attempt: &mut Try<'_>, error: ClusterError) -> Result<(), Halt> {
        let give_up = |attempt: &Try<'_>, error: &ClusterError| {
            Halt::from(Unwritten::of(attempt.object.reference(), error, attempt.uid.is_none()))
        };
        let kind = error.failure().map(Failure::kind);
        match kind {
            Some(FailureKind::FieldConflict(fields))
                if attempt.uid.is_some()
                    && attempt.repeats < TAKEOVERS
                    && were_shown(&fields, &attempt.step) =>
            {
                attempt.repeats += 1;
                attempt.forced = self.takeover(attempt).await?;
                return Ok(());
            }
            // Whoever wrote it meanwhile may own more of it now.
            Some(FailureKind::Modified) if attempt.forced.is_some() => {
                attempt.forced = None;
                return Ok(());
            }
            // The lost request was slower than the look.
            Some(FailureKind::Modified | FailureKind::FieldConflict(_))
                if attempt.uid.is_none() && attempt.may_be_ours =>
            {
                let live = self.context.cluster.get(attempt.object.reference()).await;
                let live = live.map_err(|error| give_up(attempt, &error))?;
                attempt.uid = Some(self.ours(live.as_ref()).ok_or_else(|| give_up(attempt, &error))?);
                return Ok(());
            }
            _ => {}
        }
        if let Some(limit) = self.limit(attempt, &error) {
            let since = *attempt.since.get_or_insert_with(Instant::now);
            if since.elapsed() >= limit {
                return Err(give_up(attempt, &error));
            }
            return self.context.pause_or_stop(Duration::from_millis(150)).await;
        }
        attempt.may_be_ours |= error.may_have_landed();
        if attempt.uid.is_some() || !attempt.may_be_ours {
            attempt.repeats += 1;
            let pause = error.pause_before_repeat(attempt.repeats);
            return self.context.pause_or_stop(pause.ok_or_else(|| give_up(attempt, &error))?).await;
        }
        // What may be there is looked up before it is created again.
        let live = self.context.look_up(attempt.object.reference(), error, &mut attempt.repeats).await?;
        attempt.uid = self.ours(live.as_ref());
        Ok(())
    }

    /// Returns the version of the live object in which applying takes over what the plan showed and nothing else. `None` if
    /// nobody holds anything any more, or the object changed while this looked: the next attempt tells.
    ///
    /// The force of a request is for all fields, so that one that somebody takes between the conflict and the forced request
    /// would go with the others.
    async fn takeover(&self, attempt: &Try<'_>) -> Result<Option<String>, Halt> {
        let reference = attempt.object.reference();
        let failed = |error| Halt::from(Unwritten::of(reference, &error, false));
        let live = self.context.cluster.get(reference).await.map_err(failed)?;
        let ids = live.as_ref().and_then(|live| Some((live.uid()?, live.resource_version()?)));
        let Some((uid, version)) = ids else { return Ok(None) };
        let expect = Expect::Version(uid, version);
        let request = ApplyRequest { object: &attempt.object, expect, force: false, dry_run: true };
        let Err(error) = self.context.cluster.apply(request).await else { return Ok(None) };
        match error.failure().map(Failure::kind) {
            Some(FailureKind::FieldConflict(fields)) if were_shown(&fields, &attempt.step) => {
                Ok(Some(version.to_owned()))
            }
            Some(FailureKind::Modified) => Ok(None),
            _ => Err(failed(error)),
        }
    }

    /// Returns for how long a failure may only mean that the server has not caught up with this run.
    fn limit(&self, attempt: &Try<'_>, error: &ClusterError) -> Option<Duration> {
        let reference = attempt.object.reference();
        let defined = self.fresh.kinds.contains(&reference.kind);
        if matches!(error, ClusterError::UnknownKind { .. }) {
            return defined.then_some(KIND_LIMIT);
        }
        let failure = error.failure()?;
        let says = |text: &str| failure.message.contains(text);
        match failure.kind() {
            FailureKind::KindNotServed if defined => Some(KIND_LIMIT),
            FailureKind::Schema if defined && says("field not declared in schema") => Some(FIELD_LIMIT),
            FailureKind::NamespaceMissing
                if reference.namespace.as_ref().is_some_and(|name| self.fresh.namespaces.contains(name)) =>
            {
                Some(NAMESPACE_LIMIT)
            }
            FailureKind::Forbidden if says("error looking up service account") && says("not found") => {
                Some(ACCOUNT_LIMIT)
            }
            _ => None,
        }
    }

    /// Returns the uid of the object that stands where one was to be created, if our own lost request can have
    /// created it: it has our label and an entry of our manager. Applying to it once more shows the rest.
    fn ours(&self, live: Option<&Object>) -> Option<String> {
        let live = live?;
        let ours = live.label(PART_OF) == Some(&self.set_id) && apply_entry(live, FIELD_MANAGER).is_some();
        live.uid().filter(|_| ours).map(str::to_owned)
    }
}

/// Says whether the plan showed that each of these fields is taken over.
pub(crate) fn were_shown(fields: &[Conflict], step: &Step<'_>) -> bool {
    let shown = |field: &Conflict| step.action.takes_over.iter().any(|known| known.is_of(field));
    matches!(step.action.operation, Operation::Update | Operation::Adopt) && fields.iter().all(shown)
}

/// An apply to an object that is being deleted is answered with 200, and the object goes away all the same.
fn settled(answer: Answer) -> Result<Answer, Halt> {
    if answer.object.is_terminating() {
        let message = "is being deleted, so what was applied to it will not last".to_owned();
        let hint = "wait until it is gone, or find what holds it (metadata.finalizers), then run again";
        return Err(Unwritten::because(answer.object.reference(), message, hint).into());
    }
    Ok(answer)
}
