//! Asking the server about every object by a dry-run of exactly what would be sent.

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ApplyRequest, Cluster, ClusterError, Expect, Failure, FailureKind};
use windlass_model::{ApplySet, EnvironmentName, Object, PART_OF, Rendering};

use super::catalog::Served;
use super::live::Live;
use super::recall::Given;
use super::{Around, Reader, Wanted, tolerate, wanted};
use crate::fields::{FieldRules, Foreseen, emptied, has_migration, sent};
use crate::{Ask, Asked, Moving, Reply, local};

/// Asks about every rendered object.
pub(super) async fn all(
    reader: &Reader<'_>,
    environment: Option<&EnvironmentName>,
    record_namespace: &str,
    rendering: &Rendering,
    around: &Around<'_>,
    mut live: Live,
) -> Result<Vec<Given>, ClusterError> {
    let label = |wanted: &Wanted<'_>| {
        let environment = environment?.clone();
        Some(ApplySet::empty(environment, wanted.unit.clone(), record_namespace).id())
    };
    let jobs: Vec<Job<'_>> = wanted(rendering)
        .map(|wanted| Job {
            served: around.catalog.of_object(wanted.object.reference()),
            placeless: around.places.lacks(&wanted.key),
            label: label(&wanted),
            live: live.remove(&wanted.key).unwrap_or(Ok(None)),
            wanted,
        })
        .collect();
    stream::iter(jobs.into_iter().map(|job| one(reader, around, job)))
        .buffer_unordered(reader.concurrency)
        .try_collect()
        .await
}

struct Job<'a> {
    wanted: Wanted<'a>,
    served: Option<&'a Served>,
    /// Whether its namespace does not exist.
    placeless: bool,
    label: Option<String>,
    live: Result<Option<Object>, ClusterError>,
}

async fn one(reader: &Reader<'_>, around: &Around<'_>, job: Job<'_>) -> Result<Given, ClusterError> {
    let given = unfolded(reader, around, job).await?;
    // There may be ten thousand.
    Ok(Given { asked: given.asked.folded(), ..given })
}

async fn unfolded(reader: &Reader<'_>, around: &Around<'_>, job: Job<'_>) -> Result<Given, ClusterError> {
    let desired = job.wanted.object.folded();
    let recall = around.recall;
    let key = job.wanted.key.clone();
    let given = |asked| Given { key: key.clone(), asked, recalled: false, question: None };
    let unasked = |live, answer| Ok(given(Asked::without_conflicts(live, answer)));
    let resource = match job.served {
        Some(Served::Yes(resource)) => resource,
        Some(Served::No { stale }) => return unasked(None, Ask::NotServed { stale: *stale }),
        None => return unasked(None, Ask::NotServed { stale: false }),
    };
    if resource.namespaced && key.namespace.is_none() {
        return unasked(None, Ask::Failed("an object of this kind needs a `metadata.namespace`".to_owned()));
    }
    if resource.namespaced && job.placeless {
        let asking =
            Question { cluster: reader.cluster, rules: reader.rules, desired: &desired, label: job.label };
        let trial = around.stand_in.try_out(reader, &asking.outgoing(None)).await?;
        return unasked(None, Ask::NamespaceMissing(trial));
    }
    let live = match job.live {
        Ok(live) => live.as_ref().map(Object::folded),
        Err(error) => return unasked(None, failed(error)),
    };
    if live.as_ref().is_some_and(Object::is_terminating) {
        return unasked(live, Ask::Failed("the live object is being deleted".to_owned()));
    }
    // Without an environment there is no set; a label that is there must not look as if it were taken off.
    let label = job.label.or_else(|| live.as_ref()?.label(PART_OF).map(str::to_owned));
    let asking = Question { cluster: reader.cluster, rules: reader.rules, desired: &desired, label };
    // What would move first depends on rules that no answer was remembered under.
    let moves = live.as_ref().is_some_and(|live| has_migration(live, reader.rules));
    let object = asking.outgoing(live.as_ref());
    if reader.cluster.is_read_only() {
        return Ok(given(local::asked(live, &object, reader.rules)));
    }
    let question = recall.question(&key, resource, &object, live.as_ref()).filter(|_| !moves);
    if let (Some(question), Some(found)) = (&question, &live)
        && let Some(answer) = recall.answer(question, found)
    {
        return Ok(Given { recalled: true, ..given(Asked::without_conflicts(live, answer)) });
    }
    let version = live.as_ref().and_then(Object::resource_version).map(str::to_owned);
    let asked = settle(&asking, live).await?;
    // An object that moved while it was asked about is not the one that the question names.
    let same = asked.live.as_ref().and_then(Object::resource_version) == version.as_deref();
    Ok(Given { question: question.filter(|_| same && asked.moving.is_none()), ..given(asked) })
}

/// What is asked about one object, whatever is live.
struct Question<'a> {
    cluster: &'a Cluster,
    rules: &'a FieldRules,
    desired: &'a Object,
    label: Option<String>,
}

impl Question<'_> {
    /// Returns the object as it is sent.
    fn outgoing(&self, live: Option<&Object>) -> Object {
        let mut object = sent(self.desired, live, self.rules).or(self.desired).clone();
        if let Some(label) = &self.label {
            object.set_label(PART_OF, label);
        }
        object
    }
}

/// How often an object that keeps changing is read and asked about again.
const LOOKS: usize = 4;

/// Asks, and again if the object appeared, went, changed hands or merely changed between reading it and asking:
/// the difference of two moments would show what a controller wrote in between as ours.
async fn settle(question: &Question<'_>, live: Option<Object>) -> Result<Asked, ClusterError> {
    let mut asked = ask(question, live).await?;
    for _ in 1..LOOKS {
        if !has_moved(&asked) {
            break;
        }
        match tolerate(question.cluster.get(question.desired.reference()).await)? {
            Ok(live) => asked = ask(question, live).await?,
            Err(error) => return Ok(Asked::without_conflicts(None, failed(error))),
        }
    }
    Ok(asked)
}

/// Says whether the answer is about another state of the object than the one that was read. The answer to a
/// dry-run of an update carries the version of the live object that it started from (measured on 1.36).
fn has_moved(asked: &Asked) -> bool {
    match (&asked.answer, &asked.live) {
        (Ask::Refused(failure), _) => {
            matches!(failure.kind(), FailureKind::Modified | FailureKind::Gone | FailureKind::Recreated)
        }
        (Ask::Answered(reply), Some(live)) => reply.object.resource_version() != live.resource_version(),
        _ => false,
    }
}

async fn ask(question: &Question<'_>, live: Option<Object>) -> Result<Asked, ClusterError> {
    let cluster = question.cluster;
    let object = question.outgoing(live.as_ref());
    let expect = live.as_ref().and_then(Object::uid).map_or(Expect::Absent, Expect::Uid);
    let request = ApplyRequest { object: &object, expect, force: false, dry_run: true };
    let mut conflicts = Vec::new();
    let mut answer = tolerate(cluster.apply(request).await)?;
    if let Err(error) = &answer
        && let Some(FailureKind::FieldConflict(fields)) = error.failure().map(Failure::kind)
    {
        conflicts = fields;
        answer = tolerate(cluster.apply(ApplyRequest { force: true, ..request }).await)?;
    }
    let answer = match answer {
        Ok(answer) => Ask::Answered(Reply { object: answer.object, warnings: answer.warnings }),
        Err(error) => failed(error),
    };
    let asked = Asked { live, conflicts, answer, moving: None };
    migrated(question, &object, asked).await
}

/// Asks what would be if ownership were migrated first, where there is something to migrate.
async fn migrated(question: &Question<'_>, object: &Object, asked: Asked) -> Result<Asked, ClusterError> {
    let (Some(live), false) = (&asked.live, has_moved(&asked)) else { return Ok(asked) };
    let foreseen = match &asked.answer {
        Ask::Answered(reply) => Foreseen::after_answer(live, &reply.object, question.rules, emptied(live)),
        Ask::Refused(failure) => Foreseen::after_refusal(live, object, failure, question.rules),
        _ => None,
    };
    let Some(foreseen) = foreseen else { return Ok(asked) };
    let moving = Some(Moving { migration: foreseen.migration.clone(), merged_here: foreseen.merged_here });
    if let Some(error) = refused_as_null(question.cluster, object, &foreseen).await? {
        return Ok(Asked { answer: failed(error), moving, ..asked });
    }
    let answer = match &asked.answer {
        Ask::Answered(reply) if !foreseen.removes => {
            Ask::Answered(Reply { object: foreseen.seen_in(&reply.object), warnings: reply.warnings.clone() })
        }
        _ => {
            match tolerate(question.cluster.patch(object, &foreseen.patch(live), true).await)? {
                Ok(answer) => Ask::Answered(Reply {
                    object: foreseen.seen_in(&answer.object),
                    // What was warned of before may go with its owner.
                    warnings: answer.warnings,
                }),
                Err(error) if foreseen.merged_here && !is_judgement(&error) => return Ok(asked),
                Err(error) => failed(error),
            }
        }
    };
    Ok(Asked { answer, moving, ..asked })
}

/// Returns why the server refuses the nulls that it would make of emptied maps, if it does. Where the entries are still
/// there nothing becomes null, so that a new object is tried out.
async fn refused_as_null(
    cluster: &Cluster,
    object: &Object,
    foreseen: &Foreseen,
) -> Result<Option<ClusterError>, ClusterError> {
    let Some(object) = foreseen.with_nulls(object).and_then(|object| renamed(&object)) else {
        return Ok(None);
    };
    let request = ApplyRequest { object: &object, expect: Expect::Absent, force: false, dry_run: true };
    let speaks_of_null = |error: &ClusterError| {
        let causes = error.failure().map(|failure| failure.causes.as_slice()).unwrap_or_default();
        causes.iter().any(|cause| cause.message.contains("\"null\""))
    };
    Ok(tolerate(cluster.apply(request).await)?.err().filter(speaks_of_null))
}

fn renamed(object: &Object) -> Option<Object> {
    let mut body = object.body().clone();
    let name: String = object.reference().name.chars().take(50).collect();
    body["metadata"]["name"] = format!("{name}-wndls").into();
    Object::new(body, None).ok()
}

/// Says whether a refusal is about what follows a migration, or tells that the object moved meanwhile. Any other is about
/// the way of asking, and then what the server said first is what is known.
fn is_judgement(error: &ClusterError) -> bool {
    let judges = |failure: &Failure| {
        use FailureKind::{Denied, Immutable, Invalid, Modified, Quota};
        matches!(failure.kind(), Invalid | Immutable | Denied | Quota | Modified)
    };
    error.failure().is_some_and(judges)
}

pub(super) fn failed(error: ClusterError) -> Ask {
    match error {
        ClusterError::Api { failure, .. } => Ask::Refused(*failure),
        ClusterError::UnknownKind { stale, .. } => Ask::NotServed { stale },
        error => Ask::Failed(error.to_string()),
    }
}
