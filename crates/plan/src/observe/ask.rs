//! Asking the server about every object by a dry-run of exactly what would be sent.

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use windlass_cluster::{ApplyRequest, Cluster, ClusterError, Expect, FailureKind};
use windlass_model::{ApplySet, EnvironmentName, Object, PART_OF, Rendering};

use super::catalog::Served;
use super::live::Live;
use super::recall::{Given, Recall};
use super::{Around, Reader, Wanted, tolerate, wanted};
use crate::{Ask, Asked, Reply};

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
    stream::iter(jobs.into_iter().map(|job| one(reader.cluster, around.recall, job)))
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

async fn one(cluster: &Cluster, recall: &Recall<'_>, job: Job<'_>) -> Result<Given, ClusterError> {
    let key = job.wanted.key.clone();
    let given = |asked| Given { key: key.clone(), asked, recalled: false, question: None };
    let unasked = |live, answer| Ok(given(Asked { live, conflicts: Vec::new(), answer }));
    let resource = match job.served {
        Some(Served::Yes(resource)) => resource,
        Some(Served::No { stale }) => return unasked(None, Ask::NotServed { stale: *stale }),
        None => return unasked(None, Ask::NotServed { stale: false }),
    };
    if resource.namespaced && key.namespace.is_none() {
        return unasked(None, Ask::Failed("an object of this kind needs a `metadata.namespace`".to_owned()));
    }
    if resource.namespaced && job.placeless {
        return unasked(None, Ask::NamespaceMissing);
    }
    let live = match job.live {
        Ok(live) => live,
        Err(error) => return unasked(None, failed(error)),
    };
    if live.as_ref().is_some_and(Object::is_terminating) {
        return unasked(live, Ask::Failed("the live object is being deleted".to_owned()));
    }
    let mut object = job.wanted.object.clone();
    // Without an environment there is no set; a label that is there must not look as if it were taken off.
    let label = job.label.or_else(|| live.as_ref()?.label(PART_OF).map(str::to_owned));
    if let Some(label) = label {
        object.set_label(PART_OF, &label);
    }
    let question = recall.question(&key, resource, &object, live.as_ref());
    if let (Some(question), Some(found)) = (&question, &live)
        && let Some(answer) = recall.answer(question, found)
    {
        let asked = Asked { live, conflicts: Vec::new(), answer };
        return Ok(Given { recalled: true, ..given(asked) });
    }
    let version = live.as_ref().and_then(Object::resource_version).map(str::to_owned);
    let asked = settle(cluster, &object, live).await?;
    // An object that moved while it was asked about is not the one that the question names.
    let same = asked.live.as_ref().and_then(Object::resource_version) == version.as_deref();
    Ok(Given { question: question.filter(|_| same), ..given(asked) })
}

/// How often an object that keeps changing is read and asked about again.
const LOOKS: usize = 4;

/// Asks, and again if the object appeared, went, changed hands or merely changed between reading it and asking:
/// the difference of two moments would show what a controller wrote in between as ours.
async fn settle(cluster: &Cluster, object: &Object, live: Option<Object>) -> Result<Asked, ClusterError> {
    let mut asked = ask(cluster, object, live).await?;
    for _ in 1..LOOKS {
        if !has_moved(&asked) {
            break;
        }
        match tolerate(cluster.get(object.reference()).await)? {
            Ok(live) => asked = ask(cluster, object, live).await?,
            Err(error) => return Ok(Asked { live: None, conflicts: Vec::new(), answer: failed(error) }),
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

async fn ask(cluster: &Cluster, object: &Object, live: Option<Object>) -> Result<Asked, ClusterError> {
    let expect = live.as_ref().and_then(Object::uid).map_or(Expect::Absent, Expect::Uid);
    let request = ApplyRequest { object, expect, force: false, dry_run: true };
    let mut conflicts = Vec::new();
    let mut answer = tolerate(cluster.apply(request).await)?;
    if let Err(error) = &answer
        && let Some(FailureKind::FieldConflict(fields)) = error.failure().map(windlass_cluster::Failure::kind)
    {
        conflicts = fields;
        answer = tolerate(cluster.apply(ApplyRequest { force: true, ..request }).await)?;
    }
    let answer = match answer {
        Ok(answer) => Ask::Answered(Reply { object: answer.object, warnings: answer.warnings }),
        Err(error) => failed(error),
    };
    Ok(Asked { live, conflicts, answer })
}

fn failed(error: ClusterError) -> Ask {
    match error {
        ClusterError::Api { failure, .. } => Ask::Refused(*failure),
        ClusterError::UnknownKind { stale, .. } => Ask::NotServed { stale },
        error => Ask::Failed(error.to_string()),
    }
}
