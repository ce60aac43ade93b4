//! Applying an approved plan.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt as _;
use windlass_cluster::Answer;
use windlass_model::{ApprovedPlan, Object, ObjectRef, Rendering, Stage, defined_kind, is_secret_kind};

use crate::applied::{Key, key};
use crate::definition::in_force;
use crate::failure::{Halt, Unwritten};
use crate::parents::Parents;
use crate::work::{Step, Work, pair};
use crate::write::{Fresh, Writer};
use crate::{Applied, ApplyError, Context, Live, ObjectFailure};

/// Writes what an approved plan says, unit by unit, rank by rank, and nothing else.
///
/// Before the first member of a unit is written, the unit's parent is widened to what it says and what will
/// be. A planned creation creates or fails, a planned update meets the object that was planned for, by uid,
/// or fails. What the plan finds unchanged is not sent: an unchanged run writes nothing at all.
///
/// After a failure the objects of the same rank are still written, since none needs another, but no later rank
/// and no later unit. After `stop` nothing new is sent; what is in flight is awaited.
///
/// # Errors
/// See [`ApplyError`]. In every case the same command can be run again, and goes on from there.
pub async fn apply(
    approved: &ApprovedPlan,
    rendering: &Rendering,
    context: &Context<'_>,
) -> Result<Applied, ApplyError> {
    let work = pair(approved.plan(), rendering, context)?;
    let units = rendering.units.iter().map(|unit| &unit.name);
    // Where something is written or deleted, the evidence is as fresh as can be.
    let known = approved.plan().parents.as_deref().filter(|_| !approved.plan().has_changes());
    let parents = Parents::read(units, known, context).await?;
    let mut run = Run::new(parents, &work, context);
    for unit in &work {
        if let Err(halt) = run.unit(unit).await {
            run.take(halt);
        }
        if run.ends() {
            return Err(run.error());
        }
    }
    Ok(Applied {
        plan: approved.plan().change_digest(),
        written: run.written,
        live: run.live,
        parents: run.parents,
    })
}

/// How far applying has come.
struct Run<'a> {
    context: &'a Context<'a>,
    parents: Parents,
    fresh: Fresh,
    total: usize,
    written: Vec<ObjectRef>,
    live: BTreeMap<Key, Live>,
    failures: Vec<Unwritten>,
    stopped: bool,
}

impl<'a> Run<'a> {
    fn new(parents: Parents, work: &[Work<'_>], context: &'a Context<'a>) -> Self {
        let steps = || work.iter().flat_map(|unit| &unit.steps);
        let planned = |step: &Step<'_>| {
            let live = step.action.live.as_ref()?;
            Some((key(step.object.reference()), Live { uid: live.uid.clone(), generation: None }))
        };
        Self {
            context,
            parents,
            fresh: Fresh::default(),
            total: steps().filter(|step| step.action.operation.writes()).count(),
            written: Vec::new(),
            live: steps().filter_map(planned).collect(),
            failures: Vec::new(),
            stopped: false,
        }
    }

    async fn unit(&mut self, work: &Work<'_>) -> Result<(), Halt> {
        let unit = &work.unit.name;
        let set = self.context.set_of(unit).of(work.steps.iter().map(|step| step.object.reference()));
        self.parents.write(unit, self.context, |now| now.union(&set)).await?;
        for rank in work.ranks() {
            let definitions = self.rank(rank, set.id()).await;
            if self.ends() {
                return Ok(());
            }
            in_force(&definitions, self.context).await?;
            self.fresh.kinds.extend(definitions.iter().filter_map(defined_kind));
        }
        Ok(())
    }

    /// Writes the objects of one rank, several at once, and returns the definitions among them.
    async fn rank(&mut self, steps: Vec<Step<'_>>, set_id: String) -> Vec<Object> {
        let writer = Writer { context: self.context, set_id, fresh: &self.fresh };
        let hopeless = AtomicBool::new(false);
        let write = async |step: Step<'_>| {
            if hopeless.load(Ordering::Relaxed) {
                return None;
            }
            let result = writer.write(step).await;
            if matches!(&result, Err(Halt::Failed(unwritten)) if unwritten.systemic) {
                hopeless.store(true, Ordering::Relaxed);
            }
            Some((step.object.clone(), result))
        };
        let mut answers = futures::stream::iter(steps.into_iter().map(write))
            .buffer_unordered(self.context.concurrency.max(1));
        let mut done = Vec::new();
        let mut halts = Vec::new();
        while let Some(answer) = answers.next().await {
            match answer {
                Some((object, Ok(answer))) => {
                    let count = self.written.len() + done.len() + 1;
                    self.context.progress(Stage::Apply, count, self.total, object.reference().to_string());
                    done.push((object, answer));
                }
                Some((_, Err(halt))) => halts.push(halt),
                None => {}
            }
        }
        drop(answers);
        for halt in halts {
            self.take(halt);
        }
        for (object, answer) in &done {
            self.note(object, answer);
        }
        done.into_iter().map(|(object, _)| object).filter(|object| defined_kind(object).is_some()).collect()
    }

    /// Takes an answer down.
    fn note(&mut self, object: &Object, answer: &Answer) {
        let reference = object.reference();
        if reference.kind.is("", "Namespace") {
            self.fresh.namespaces.insert(reference.name.clone());
        }
        let uid = answer.object.uid().unwrap_or_default().to_owned();
        self.live.insert(key(reference), Live { uid, generation: answer.object.generation() });
        self.written.push(reference.clone());
        // What could not be previewed is warned of only here. A warning about a Secret may echo its content.
        for warning in answer.warnings.iter().filter(|_| !is_secret_kind(&reference.kind)) {
            self.context.warn(format!("{reference}: {warning}"));
        }
    }

    fn take(&mut self, halt: Halt) {
        match halt {
            Halt::Stopped => self.stopped = true,
            Halt::Failed(unwritten) => self.failures.push(*unwritten),
        }
    }

    fn ends(&self) -> bool {
        self.stopped || !self.failures.is_empty()
    }

    fn error(self) -> ApplyError {
        if self.failures.is_empty() {
            return ApplyError::Interrupted { touched: self.written };
        }
        failed(self.written, self.failures)
    }
}

/// Says how applying ended that met these failures, the first of them first.
fn failed(written: Vec<ObjectRef>, unwritten: Vec<Unwritten>) -> ApplyError {
    let stale = written.is_empty() && unwritten.iter().all(|unwritten| unwritten.stale);
    let unanswered = unwritten.iter().any(|unwritten| unwritten.unanswered)
        && unwritten.iter().all(|unwritten| unwritten.systemic);
    let failures: Vec<ObjectFailure> = unwritten.into_iter().map(|unwritten| unwritten.failure).collect();
    if stale {
        ApplyError::Stale { failures }
    } else if unanswered {
        ApplyError::Unanswered { touched: written, failures }
    } else {
        ApplyError::Partial { applied: written, failures }
    }
}

#[cfg(test)]
mod tests {
    use windlass_cluster::{ClusterError, Failure};
    use windlass_model::{ExitCode, GroupKind};

    use super::*;

    #[test]
    fn an_api_server_that_goes_away_is_no_failure_of_the_objects() {
        let object = ObjectRef {
            kind: GroupKind::new("", "ConfigMap"),
            version: "v1".into(),
            namespace: Some("a".into()),
            name: "b".into(),
        };
        let api = |code| {
            let failure = Box::new(Failure::parse(code, b"no", None));
            ClusterError::Api { what: "PATCH /x".into(), failure }
        };
        let gone = || ClusterError::Unreachable { server: "s".into(), reason: "refused".into() };
        let late = || ClusterError::Timeout { what: "PATCH /x".into(), seconds: 30 };
        let check = |written: &[ObjectRef], errors: &[ClusterError], want| {
            let unwritten = errors.iter().map(|error| Unwritten::of(&object, error, false)).collect();
            let error = failed(written.to_vec(), unwritten);
            assert_eq!((error.exit_code(), error.touched()), (want, written), "{error}");
            assert_eq!(error.failures().len(), errors.len());
        };
        let some = std::slice::from_ref(&object);
        check(&[], &[gone()], ExitCode::Unreachable);
        check(some, &[gone(), late(), api(503)], ExitCode::Unreachable);
        check(some, &[gone(), api(422)], ExitCode::ApplyFailed);
        // It answers, only not as one would like. A single API behind it may be down.
        check(some, &[api(503)], ExitCode::ApplyFailed);
        check(some, &[api(429)], ExitCode::ApplyFailed);
        check(some, &[api(401)], ExitCode::ApplyFailed);
    }
}
