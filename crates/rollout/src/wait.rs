//! Waiting until everything is ready.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{Event, GroupKind, Level, ObjectRef, Sink, Stage};

use crate::collection::Collection;
use crate::diagnose::diagnose;
use crate::feed::{Feeds, News};
use crate::fields::text;
use crate::judge::depends_on_pods;
use crate::mirror::{Mirror, View};
use crate::patience::Patience;
use crate::rescue::Rescue;
use crate::{Ailment, Cause, Failure, Grace, RolloutError, Target, Unfinished, Verdict, judge};

/// How to wait.
pub struct Options<'a> {
    /// How long all targets together may take.
    pub deadline: Duration,
    /// Takes progress, on changes only.
    pub sink: &'a dyn Sink,
    /// Ends the wait early.
    pub stop: CancellationToken,
    /// How long causes may last.
    pub grace: Grace,
    /// Whether a pod of an earlier revision that blocks a StatefulSet is deleted.
    pub rescue: bool,
}

/// Proof that all targets were ready at the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolledOut {
    ready: Vec<ObjectRef>,
    notes: Vec<(ObjectRef, String)>,
}

impl RolledOut {
    /// Returns the objects that were ready.
    pub fn ready(&self) -> &[ObjectRef] {
        &self.ready
    }

    /// Returns what is worth knowing about ready objects: paused, pods left on an old revision, changed by
    /// another writer. The same texts went through the sink.
    pub fn notes(&self) -> &[(ObjectRef, String)] {
        &self.notes
    }
}

/// Changes come in bursts: one look at all of them is enough.
const BURST: Duration = Duration::from_millis(50);
/// How long a pod must have blocked a rollout before it is deleted: the controller may be about to do so itself.
const RESCUE_AFTER: Duration = Duration::from_secs(5);
/// How often a definition whose kind is not served yet is looked up.
const LOOK_UP: Duration = Duration::from_millis(300);
/// How many failures are diagnosed; a screen holds no more.
const DIAGNOSED: usize = 5;
/// How long the diagnosis may take.
const DIAGNOSIS_TIME: Duration = Duration::from_secs(15);

/// Waits until all targets are ready at the same moment.
///
/// Targets are read first, their pods only where those matter; where all are ready already, nothing is watched. A target that this run did not change is
/// held to the same rules: a run onto a broken workload is no success.
///
/// # Errors
/// See [`RolloutError`]. The first failure ends the wait for all.
pub async fn wait(
    cluster: &Cluster,
    targets: Vec<Target>,
    options: Options<'_>,
) -> Result<RolledOut, RolloutError> {
    let mut wait = Wait {
        cluster,
        mirror: Mirror::default(),
        targets,
        is_close: false,
        deadline: Instant::now() + options.deadline,
        options,
        patience: Patience::default(),
        rescue: Rescue::default(),
        served: HashMap::new(),
        modes: HashMap::new(),
        told: None,
    };
    wait.run().await
}

struct Wait<'a> {
    cluster: &'a Cluster,
    targets: Vec<Target>,
    options: Options<'a>,
    deadline: Instant,
    mirror: Mirror,
    /// Whether pods and the like are looked at too, and not only the targets.
    is_close: bool,
    patience: Patience,
    rescue: Rescue,
    /// By definition: whether its kind is served.
    served: HashMap<usize, bool>,
    /// By storage class: its binding mode, if it could be read.
    modes: HashMap<String, Option<String>>,
    told: Option<(usize, String)>,
}

impl Wait<'_> {
    async fn run(&mut self) -> Result<RolledOut, RolloutError> {
        let mut feeds = Feeds::new(self.cluster.clone());
        self.follow(&mut feeds, Collection::of_targets(&self.targets));
        loop {
            if self.options.stop.is_cancelled() {
                return Err(self.interrupted());
            }
            if let Some(end) = self.look().await {
                return end;
            }
            if self.mirror.is_complete() {
                feeds.watch();
                if !self.is_close {
                    self.is_close = true;
                    self.follow(&mut feeds, Collection::around(&self.targets));
                }
            }
            self.sleep(&mut feeds).await;
        }
    }

    /// Waits for news, for a cause to have lasted too long, or for the end.
    async fn sleep(&mut self, feeds: &mut Feeds) {
        let grace = &self.options.grace;
        let mut until = self.patience.next(grace).map_or(self.deadline, |next| next.min(self.deadline));
        if self.options.rescue {
            until = until.min(Instant::now() + RESCUE_AFTER);
        }
        if self.served.values().any(|served| !served) {
            until = until.min(Instant::now() + LOOK_UP);
        }
        let stop = self.options.stop.clone();
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep_until(until) => return,
            Some((collection, news)) = feeds.next() => self.take(feeds, &collection, news),
        }
        tokio::time::sleep(BURST).await;
        while let Some((collection, news)) = feeds.waiting() {
            self.take(feeds, &collection, news);
        }
    }

    fn follow(&mut self, feeds: &mut Feeds, collections: impl IntoIterator<Item = Collection>) {
        for collection in collections {
            if self.mirror.add(&collection) {
                feeds.follow(collection);
            }
        }
    }

    fn take(&mut self, feeds: &mut Feeds, collection: &Collection, news: News) {
        match news {
            // A right that holds in some namespaces only is no right to read all.
            News::TooWide => {
                self.mirror.remove(collection);
                self.follow(feeds, collection.split());
            }
            news => self.mirror.update(collection, news, Instant::now()),
        }
    }

    /// Looks at everything once; returns the end of the wait, if it has come.
    async fn look(&mut self) -> Option<Result<RolledOut, RolloutError>> {
        let now = Instant::now();
        let late = now >= self.deadline;
        if let Some(error) = self.mirror.hopeless(now) {
            return Some(Err(error.clone().into()));
        }
        if !self.mirror.is_complete() {
            return late.then(|| Err(self.unseen()));
        }
        let verdicts = self.verdicts().await;
        if !self.is_close && !self.can_tell_from_afar(&verdicts) {
            if !late {
                return None;
            }
            // What is known to be unready is told below; what only looks ready is not.
            if verdicts.iter().all(Verdict::is_ready) {
                return Some(Err(self.unseen()));
            }
        }
        if verdicts.iter().all(Verdict::is_ready) {
            return Some(Ok(self.rolled_out(verdicts)));
        }
        self.tell(&verdicts);
        if !late && let Some(error) = self.rescue(&verdicts, now).await {
            return Some(Err(error.into()));
        }
        let overdue: HashMap<usize, Ailment> = self
            .patience
            .overdue(&verdicts, &self.options.grace, now)
            .into_iter()
            .map(|(target, ailment)| (target, ailment.clone()))
            .collect();
        let failed = |target: &usize| {
            overdue.contains_key(target) || matches!(verdicts[*target], Verdict::Failed { .. })
        };
        let failed: Vec<usize> = (0..verdicts.len()).filter(failed).collect();
        if !failed.is_empty() {
            let (failures, unfinished) = self.report(&verdicts, &failed, &overdue).await;
            return Some(Err(RolloutError::Failed { failures, unfinished }));
        }
        if late {
            if let Some(error) = self.mirror.blind() {
                return Some(Err(error.clone().into()));
            }
            let unready: Vec<usize> =
                (0..verdicts.len()).filter(|target| !verdicts[*target].is_ready()).collect();
            let (failures, unfinished) = self.report(&verdicts, &unready, &overdue).await;
            return Some(Err(RolloutError::TimedOut { failures, unfinished }));
        }
        None
    }

    /// Says whether everything is ready, and so without a look at any pod.
    fn can_tell_from_afar(&self, verdicts: &[Verdict]) -> bool {
        let view = self.mirror.view();
        let is_plain =
            |target: &Target| view.observe(target).object.is_some_and(|live| !depends_on_pods(live));
        verdicts.iter().all(Verdict::is_ready) && self.targets.iter().all(is_plain)
    }

    /// Frees what a stuck pod blocks, where that is allowed: the lowest ordinal first, one a look.
    ///
    /// Not while a pod of the new revision fails too: then the new revision is what has to be mended.
    async fn rescue(&mut self, verdicts: &[Verdict], now: Instant) -> Option<ClusterError> {
        if !self.options.rescue {
            return None;
        }
        for (index, verdict) in verdicts.iter().enumerate() {
            let Verdict::Ailing { ailments } = verdict else { continue };
            let Some(blocked) =
                ailments.first().filter(|_| ailments.iter().all(|one| one.cause == Cause::Blocked))
            else {
                continue;
            };
            let Some(pod) = blocked.pod.as_deref() else { continue };
            if !self.patience.has_lasted(index, blocked, RESCUE_AFTER, now) {
                continue;
            }
            let set = &self.targets[index].object;
            match self.rescue.free(self.cluster, self.options.sink, set, pod).await {
                Ok(true) => break,
                Ok(false) => {}
                // The wait goes on: at worst it ends with the advice to delete the pod by hand.
                Err(error) if error.failure().is_some() => break,
                Err(error) => return Some(error),
            }
        }
        None
    }

    async fn verdicts(&mut self) -> Vec<Verdict> {
        self.look_up_definitions().await;
        self.look_up_classes().await;
        let view = self.mirror.view();
        let verdict = |(index, target): (usize, &Target)| {
            let mut observed = view.observe(target);
            observed.served = self.served.get(&index).copied().unwrap_or_default();
            let class = observed.object.map(|claim| text(claim.body(), "/spec/storageClassName"));
            observed.binding_mode = class.and_then(|class| self.modes.get(class)?.as_deref());
            judge(target, &observed, &self.options.grace)
        };
        self.targets.iter().enumerate().map(verdict).collect()
    }

    /// Asks discovery for the kinds of definitions that are not known to be served.
    async fn look_up_definitions(&mut self) {
        for (index, target) in self.targets.iter().enumerate() {
            if !target.object.kind.is("apiextensions.k8s.io", "CustomResourceDefinition")
                || self.served.get(&index) == Some(&true)
            {
                continue;
            }
            let view = self.mirror.view();
            let Some(definition) = view.observe(target).object else { continue };
            let body = definition.body();
            let kind = GroupKind::new(text(body, "/spec/group"), text(body, "/spec/names/kind"));
            let found = self.cluster.preferred(&kind).await;
            self.served.insert(index, found.is_ok());
        }
    }

    /// Reads the storage classes of claims that are not bound. One that cannot be read has no known mode.
    async fn look_up_classes(&mut self) {
        let claims = self.targets.iter().filter(|target| target.object.kind.is("", "PersistentVolumeClaim"));
        let view = self.mirror.view();
        let unknown: Vec<String> = claims
            .filter_map(|target| view.observe(target).object)
            .filter(|claim| text(claim.body(), "/status/phase") == "Pending")
            .map(|claim| text(claim.body(), "/spec/storageClassName").to_owned())
            .filter(|class| !class.is_empty() && !self.modes.contains_key(class))
            .collect();
        for class in unknown {
            let reference = ObjectRef {
                kind: GroupKind::new("storage.k8s.io", "StorageClass"),
                version: "v1".to_owned(),
                namespace: None,
                name: class.clone(),
            };
            let found = self.cluster.get(&reference).await.ok().flatten();
            let mode = found.map(|class| text(class.body(), "/volumeBindingMode").to_owned());
            self.modes.insert(class, mode);
        }
    }

    fn rolled_out(&self, verdicts: Vec<Verdict>) -> RolledOut {
        let mut notes = Vec::new();
        for (target, verdict) in self.targets.iter().zip(verdicts) {
            if let Verdict::Ready { notes: found } = verdict {
                notes.extend(found.into_iter().map(|note| (target.object.clone(), note)));
            }
        }
        for (object, note) in &notes {
            self.options
                .sink
                .emit(Event::Message { level: Level::Warning, text: format!("{object} {note}") });
        }
        let total = self.targets.len();
        let text = "everything is ready".to_owned();
        self.options.sink.emit(Event::Progress { stage: Stage::Rollout, done: total, total, text });
        RolledOut { ready: self.targets.iter().map(|target| target.object.clone()).collect(), notes }
    }

    /// Tells what is waited for, if that has changed.
    fn tell(&mut self, verdicts: &[Verdict]) {
        let waiting = verdicts.iter().filter(|verdict| !verdict.is_ready()).count();
        let first = self.targets.iter().zip(verdicts).find(|(_, verdict)| !verdict.is_ready());
        let Some((target, verdict)) = first else { return };
        let more = if waiting > 1 { format!(" (and {} more)", waiting - 1) } else { String::new() };
        let text = format!("{}: {}{more}", target.object, verdict.reason());
        let (done, total) = (verdicts.len() - waiting, verdicts.len());
        let now = Some((done, text.clone()));
        if self.told != now {
            self.told = now;
            self.options.sink.emit(Event::Progress { stage: Stage::Rollout, done, total, text });
        }
    }

    /// Diagnoses the first failures; lists everything else that is not ready.
    async fn report(
        &self,
        verdicts: &[Verdict],
        failed: &[usize],
        overdue: &HashMap<usize, Ailment>,
    ) -> (Vec<Failure>, Vec<Unfinished>) {
        let view = &self.mirror.view();
        let until = Instant::now() + DIAGNOSIS_TIME;
        let diagnosed = &failed[..failed.len().min(DIAGNOSED)];
        let failures = diagnosed.iter().map(|index| {
            let ailment = overdue.get(index).or(match &verdicts[*index] {
                Verdict::Ailing { ailments } => ailments.first(),
                _ => None,
            });
            self.failure(&self.targets[*index], view, &verdicts[*index], ailment, until)
        });
        let failures = futures::future::join_all(failures).await;
        let rest = verdicts
            .iter()
            .enumerate()
            .filter(|(index, verdict)| !verdict.is_ready() && !diagnosed.contains(index));
        let unfinished = rest.map(|(index, verdict)| self.unfinished(index, verdict.reason())).collect();
        (failures, unfinished)
    }

    async fn failure(
        &self,
        target: &Target,
        view: &View<'_>,
        verdict: &Verdict,
        ailment: Option<&Ailment>,
        until: Instant,
    ) -> Failure {
        let reason = ailment.map_or(verdict.reason(), |ailment| &ailment.reason).to_owned();
        let namespace = target.object.namespace.as_deref();
        let pod = ailment.and_then(|ailment| view.pod(namespace, ailment.pod.as_deref()?));
        let diagnosis = diagnose(self.cluster, target, &view.observe(target), pod, until).await;
        let cause = ailment.map(|ailment| ailment.cause);
        Failure { object: target.object.clone(), cause, reason, diagnosis }
    }

    fn unfinished(&self, index: usize, reason: &str) -> Unfinished {
        Unfinished { object: self.targets[index].object.clone(), reason: reason.to_owned() }
    }

    fn interrupted(&self) -> RolloutError {
        let view = self.mirror.view();
        let complete = self.mirror.is_complete();
        let unfinished = self.targets.iter().enumerate().filter_map(|(index, target)| {
            if !complete {
                return Some(self.unfinished(index, "not looked at yet"));
            }
            let verdict = judge(target, &view.observe(target), &self.options.grace);
            (!verdict.is_ready()).then(|| self.unfinished(index, verdict.reason()))
        });
        RolloutError::Interrupted { unfinished: unfinished.collect() }
    }

    /// The time is over and something was never seen.
    fn unseen(&self) -> RolloutError {
        let seconds = self.options.deadline.as_secs();
        let timeout = || ClusterError::Timeout { what: "reading the workloads".to_owned(), seconds };
        self.mirror.blind().cloned().unwrap_or_else(timeout).into()
    }
}
