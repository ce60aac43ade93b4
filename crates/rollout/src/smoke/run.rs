//! Running all probes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_cluster::Cluster;
use windlass_model::{Event, Level, Sink, SourceTree, Stage};
use windlass_settings::Probe;

use super::address::Address;
use super::attempt::Miss;
use super::error::{ProbeFailure, SmokeError};
use super::{http, tcp};

/// How many probes run at the same time.
const AT_ONCE: usize = 8;

/// How to run probes.
pub struct SmokeOptions<'a> {
    /// How long all probes together may take.
    pub deadline: Duration,
    /// Takes progress.
    pub sink: &'a dyn Sink,
    /// Ends the probes early.
    pub stop: CancellationToken,
}

/// Proof that every probe of the environment passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmokePassed {
    probes: Vec<String>,
}

impl SmokePassed {
    /// Returns the names of the probes that passed; empty if the environment has none.
    pub fn probes(&self) -> &[String] {
        &self.probes
    }
}

/// Runs the probes of an environment, at most eight at a time.
///
/// A probe goes to its Service's load-balancer address and presents the name it is given, so that a load
/// balancer that does not work is told from a name that is not published. `tree` holds the files that
/// probes name. An environment without probes passes, and says so.
///
/// # Errors
/// [`SmokeError::Failed`] with every probe that did not pass within its attempts and the deadline.
pub async fn smoke(
    cluster: &Cluster,
    probes: &[Probe],
    environment: &str,
    tree: &SourceTree,
    options: SmokeOptions<'_>,
) -> Result<SmokePassed, SmokeError> {
    let is_meant = |probe: &&Probe| {
        probe.environments.is_empty() || probe.environments.iter().any(|name| name == environment)
    };
    let probes: Vec<&Probe> = probes.iter().filter(is_meant).collect();
    if probes.is_empty() {
        let text = format!("no probes for {environment}: nothing was asked after the rollout");
        options.sink.emit(Event::Message { level: Level::Warning, text });
        return Ok(SmokePassed { probes: Vec::new() });
    }
    let until = Instant::now() + options.deadline;
    let total = probes.len();
    let done = AtomicUsize::new(0);
    let one = async |probe: &Probe| {
        let result = run(cluster, probe, tree, until).await;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let text = match &result {
            Ok(()) => format!("{}: passed", probe.name),
            Err(failure) => format!("{}: {}", probe.name, failure.reason),
        };
        options.sink.emit(Event::Progress { stage: Stage::Smoke, done, total, text });
        result
    };
    let running: Vec<_> = probes.iter().map(|probe| one(probe)).collect();
    let all = futures::stream::iter(running).buffered(AT_ONCE).collect::<Vec<_>>();
    let results = tokio::select! {
        () = options.stop.cancelled() => return Err(SmokeError::Interrupted),
        results = all => results,
    };
    let failures: Vec<ProbeFailure> = results.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() {
        Ok(SmokePassed { probes: probes.iter().map(|probe| probe.name.clone()).collect() })
    } else {
        Err(SmokeError::Failed { failures })
    }
}

/// Tries a probe until it passes, its attempts are used up, or the time is over.
async fn run(
    cluster: &Cluster,
    probe: &Probe,
    tree: &SourceTree,
    until: Instant,
) -> Result<(), ProbeFailure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let limit = (Instant::now() + probe.timeout.get()).min(until);
        let miss = match tokio::time::timeout_at(limit, attempt(cluster, probe, tree)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(miss)) => miss,
            Err(_) => Miss::none(format!("no answer within {}", probe.timeout)),
        };
        let next = Instant::now() + probe.interval.get();
        if attempts >= probe.attempts || next >= until {
            let Miss { result, reason } = miss;
            return Err(ProbeFailure { probe: probe.name.clone(), result, reason, attempts });
        }
        tokio::time::sleep_until(next).await;
    }
}

async fn attempt(cluster: &Cluster, probe: &Probe, tree: &SourceTree) -> Result<(), Miss> {
    let address = Address::of(cluster, probe).await?;
    match (&probe.http, &probe.tcp) {
        (Some(http), _) => http::attempt(&address, http, tree).await,
        (None, Some(tcp)) => tcp::attempt(&address, tcp).await,
        (None, None) => Err(Miss::unusable("neither `http` nor `tcp` is given")),
    }
}
