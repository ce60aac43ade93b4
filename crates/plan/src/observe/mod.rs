//! All input and output of the stage.

mod ask;
mod backends;
mod callers;
mod catalog;
mod context;
mod converters;
mod customs;
mod descendants;
mod inventories;
mod live;
mod members;
mod namespaces;
mod places;
mod pods;
mod recall;
mod removal;
mod scope;
mod sets;
mod stand_in;
mod strays;
mod users;

pub use recall::{Recollection, Remembering};
pub use stand_in::Trials;

use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{EnvironmentName, Object, Rendering, UnitName};

use crate::evidence::Rendered;
use crate::{FieldRules, ObjectKey, Observation};
use catalog::Catalog;
use places::Places;
use recall::Recall;
use sets::Sets;
use stand_in::StandIn;

/// How to observe.
#[derive(Debug, Clone, Copy)]
pub struct ObserveOptions<'a> {
    /// How many requests may be under way at once; the connection has its own limit.
    pub concurrency: usize,
    /// Earlier answers to use; without them the server is asked for everything.
    pub remembering: Option<Remembering<'a>>,
    /// What is left to others, migrated and ignored; the plan must be made by the same rules.
    pub rules: &'a FieldRules,
    /// The existing namespace in which objects are tried out whose own does not exist yet.
    pub stand_in: &'a str,
    /// How many of these are tried out.
    pub trials: Trials,
}

/// Reads the sets and the live objects, and asks the server about every object by a dry-run. Through a connection that
/// only reads, nothing is asked, and what the server would answer is foretold.
///
/// A failure that concerns one object is part of the observation, so that it never hides the others.
///
/// # Errors
/// Failures that concern everything: no connection, no valid credentials, no discovery, no right to read the sets.
pub async fn observe(
    cluster: &Cluster,
    environment: Option<&EnvironmentName>,
    record_namespace: &str,
    rendering: &Rendering,
    options: &ObserveOptions<'_>,
) -> Result<Observation, ClusterError> {
    let reader = Reader { cluster, concurrency: options.concurrency.max(1), rules: options.rules };
    let sets = match environment {
        Some(environment) => sets::read(&reader, environment, record_namespace, rendering).await?,
        None => Sets::default(),
    };
    let catalog = Catalog::of(cluster, rendering).await?;
    let places = Places::read(&reader, rendering, options.stand_in).await?;
    // The configuration is read before anything is asked: an answer may be younger than what it is kept under.
    let prepared = Recall::prepare(&reader, options.remembering, &catalog, &places);
    let ((recall, unusable), members) =
        futures::try_join!(prepared, members::list(&reader, &sets.readable, &catalog))?;
    let live = live::read(&reader, rendering, &catalog, &places, &members.objects).await?;
    let stand_in = StandIn::new(options.stand_in, options.trials, rendering, &places);
    let around = Around { catalog: &catalog, places: &places, recall: &recall, stand_in: &stand_in };
    let mut given = ask::all(&reader, environment, record_namespace, rendering, &around, live).await?;
    stand_in::judge_policies(&reader, &mut given).await?;
    let answers = recall.conclude(given, unusable);
    let pods = pods::preview(&reader, &answers.asked).await?;
    let mut observation = Observation {
        sets: sets.readable,
        parents: sets.parents,
        unreadable: sets.unreadable,
        objects: answers.asked,
        pods,
        recollection: answers.recollection,
        unlisted: members.unlisted,
        stale_groups: cluster.stale_groups().await?,
        read_only: cluster.is_read_only(),
        ..Observation::default()
    };
    let rendered = Rendered::new(rendering, &observation);
    let concerned = rendered.keys().chain(members.objects.keys()).cloned().collect();
    observation.inventories = inventories::read(&reader, concerned).await?;
    observation.strays = strays::find(&reader, &observation, &rendered, &members.objects).await?;
    observation.candidates =
        removal::candidates(&reader, &observation, &rendered, members.objects, &members.prunable).await?;
    observation.absent_backends = backends::absent(&reader, rendering, &rendered).await?;
    observation.customs = customs::read(&reader, &observation, rendering).await?;
    observation.silent_converters = converters::silent(&reader, &observation, rendering).await?;
    observation.namespaces = namespaces::terminating(&reader, &places, &observation.objects).await?;
    context::complete(&reader, &mut observation, rendering, environment, record_namespace).await?;
    Ok(observation)
}

/// The connection and how hard it may be used.
struct Reader<'a> {
    cluster: &'a Cluster,
    concurrency: usize,
    rules: &'a FieldRules,
}

/// What is known before the first object is asked about.
struct Around<'a> {
    catalog: &'a Catalog,
    places: &'a Places,
    recall: &'a Recall<'a>,
    stand_in: &'a StandIn<'a>,
}

/// A rendered object with its key and unit.
struct Wanted<'a> {
    key: ObjectKey,
    unit: &'a UnitName,
    object: &'a Object,
}

fn wanted(rendering: &Rendering) -> impl Iterator<Item = Wanted<'_>> {
    rendering.objects().map(|(unit, object)| Wanted {
        key: ObjectKey::from(object.reference()),
        unit: &unit.name,
        object,
    })
}

/// Turns a failure that concerns one thing into data, and passes on one that concerns everything.
fn tolerate<T>(result: Result<T, ClusterError>) -> Result<Result<T, ClusterError>, ClusterError> {
    match result {
        Err(error) if error.concerns_everything() => Err(error),
        result => Ok(result),
    }
}
