//! Waiting for real workloads on a real API server with its real controllers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_cluster::Cluster;
use windlass_model::{Event, ExitCode, MutationResult, Object, SourceTree};
use windlass_rollout::{
    Failure, Grace, Options, RolledOut, RolloutError, SmokeOptions, Target, targets, wait,
};

use crate::bed::{Bed, Kept, with_bed};

fn short() -> Grace {
    Grace {
        image: Duration::from_secs(1),
        config: Duration::from_secs(1),
        restarts: 2,
        unschedulable: Duration::from_secs(1),
        refused: Duration::from_secs(1),
        deadline: Duration::from_secs(0),
        old_deadline: Duration::from_secs(30),
        blocked: Duration::from_secs(1),
    }
}

async fn wait_for(bed: &Bed, targets: Vec<Target>, seconds: u64) -> Result<RolledOut, RolloutError> {
    let deadline = Duration::from_secs(seconds);
    let sink = Kept::default();
    let options =
        Options { deadline, sink: &sink, stop: CancellationToken::new(), grace: short(), rescue: false };
    wait(&bed.cluster, targets, options).await
}

async fn ready(bed: &Bed, live: &Object) -> RolledOut {
    wait_for(bed, vec![Target::of(live, true)], 60).await.unwrap()
}

async fn failure(bed: &Bed, live: &Object, changed: bool) -> Failure {
    match wait_for(bed, vec![Target::of(live, changed)], 60).await {
        Err(RolloutError::Failed { failures, unfinished })
            if failures.len() == 1 && unfinished.is_empty() =>
        {
            failures.into_iter().next().unwrap()
        }
        other => panic!("expected one failure: {other:?}"),
    }
}

#[track_caller]
fn assert_holds(text: &str, part: &str) {
    assert!(text.contains(part), "{text:?} does not contain {part:?}");
}

fn no_symptom() -> Value {
    json!({})
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_becomes_ready() {
    with_bed("all", async |bed| {
        let (class, late) = (bed.own("now"), bed.own("late"));
        for (name, mode) in [(&class, "Immediate"), (&late, "WaitForFirstConsumer")] {
            bed.apply(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                "provisioner": "kubernetes.io/host-path", "volumeBindingMode": mode}))
                .await;
        }
        let group = format!("{}.example.com", bed.namespace);
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": "Namespaced",
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
        let metadata = |name: &str| json!({"name": name, "namespace": bed.namespace});
        let claims = Bed::claim_template("data", &class);
        let set = json!({"replicas": 3, "volumeClaimTemplates": claims});
        let claim = json!({"storageClassName": late, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}});
        let bodies = [
            definition,
            bed.workload("StatefulSet", "db", &no_symptom(), set),
            bed.workload("Deployment", "web", &no_symptom(), json!({"replicas": 2})),
            bed.workload("DaemonSet", "agent", &no_symptom(), json!({})),
            bed.workload("Job", "once", &no_symptom(), json!({"completions": 2, "parallelism": 2})),
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata("spare"), "spec": claim}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata("web"),
                "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 8080}]}}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata("bare"),
                "spec": {"containers": [{"name": "main", "image": "r/web:1"}]}}),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("settings")}),
        ];
        let mut live = Vec::new();
        for body in bodies {
            live.push(bed.apply(body).await);
        }
        let targets = targets(live.iter().map(|object| (object, true)));
        assert_eq!(targets.len(), live.len() - 1, "a ConfigMap is not waited for");
        let sink = Kept::default();
        let deadline = Duration::from_mins(1);
        let options = Options { deadline, sink: &sink, stop: CancellationToken::new(), grace: Grace::default(), rescue: false };
        let rolled_out = wait(&bed.cluster, targets, options).await.unwrap();
        assert_eq!(rolled_out.ready().len(), 8);
        let notes: Vec<String> = rolled_out.notes().iter().map(|(object, note)| format!("{object} {note}")).collect();
        let spare = format!(
            "PersistentVolumeClaim {}/spare is not bound: its class waits for the first pod that uses it",
            bed.namespace
        );
        assert_eq!(notes, [spare]);
        let progress: Vec<(usize, usize, String)> = sink
            .events()
            .into_iter()
            .filter_map(|event| match event {
                Event::Progress { done, total, text, .. } => Some((done, total, text)),
                _ => None,
            })
            .collect();
        let (done, total, text) = progress.last().unwrap();
        assert_eq!((*done, *total, text.as_str()), (8, 8, "everything is ready"));
        assert!(progress.windows(2).all(|pair| pair[0] != pair[1]), "told twice: {progress:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_pulled_fails_early() {
    with_bed("image", async |bed| {
        let spec = || json!({"replicas": 2});
        let live = bed.apply(bed.workload("Deployment", "web", &no_symptom(), spec())).await;
        ready(&bed, &live).await;
        let bad = bed.workload("Deployment", "web", &json!({"image-pull-error": "true"}), spec());
        let live = bed.apply(bad).await;
        // An event is written a moment after the status that it is about.
        let mut failed = failure(&bed, &live, true).await;
        for _ in 0..5 {
            if failed.diagnosis.events.iter().any(|event| event.message.contains("Failed to pull image")) {
                break;
            }
            failed = failure(&bed, &live, true).await;
        }
        assert_holds(&failed.reason, "failed to resolve reference");
        let pod = failed.diagnosis.pod.unwrap();
        assert_holds(&pod.containers[0].reason, "Pull");
        assert_eq!((pod.containers[0].state, pod.containers[0].image.as_str()), ("waiting", "r/web:1"));
        let events = &failed.diagnosis.events;
        assert!(events.iter().any(|event| event.message.contains("Failed to pull image")), "{events:?}");
        assert_holds(&failed.diagnosis.status, "updatedReplicas 1");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_loop_shows_the_log_of_the_last_run() {
    with_bed("crash", async |bed| {
        let symptoms = json!({"crash-loop": "true", "run-for": "100ms", "logs": "cannot open the database"});
        let live = bed.apply(bed.workload("StatefulSet", "db", &symptoms, json!({"replicas": 1}))).await;
        let failure = failure(&bed, &live, true).await;
        assert_holds(&failure.reason, "pod db-0, container main: failed and restarted");
        let pod = failure.diagnosis.pod.unwrap();
        assert_eq!(pod.containers[0].last_exit.as_ref().map(|(code, _)| *code), Some(1));
        assert!(pod.containers[0].restarts >= 2);
        let log = failure.diagnosis.log.unwrap();
        assert_eq!((log.pod.as_str(), log.container.as_str()), ("db-0", "main"));
        assert!(log.lines.iter().any(|line| line.contains("cannot open the database")), "{:?}", log.lines);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_never_gets_ready_ends_with_the_time() {
    with_bed("never", async |bed| {
        let never =
            bed.workload("StatefulSet", "db", &json!({"ready-after": "never"}), json!({"replicas": 2}));
        let live = bed.apply(never).await;
        let healthy =
            bed.apply(bed.workload("Deployment", "web", &no_symptom(), json!({"replicas": 1}))).await;
        let targets = vec![Target::of(&live, true), Target::of(&healthy, true)];
        let error = wait_for(&bed, targets, 4).await.unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::RolloutFailed);
        let RolloutError::TimedOut { failures, unfinished } = error else { panic!("{error:?}") };
        assert_eq!((failures.len(), unfinished.len()), (1, 0));
        assert_eq!(failures[0].object, *live.reference());
        assert_eq!(failures[0].reason, "1 of 2 replicas are updated");
        assert_eq!(failures[0].diagnosis.pod.as_ref().unwrap().name, "db-0");
    })
    .await;
}

/// Kubernetes issue 67250: the right template does not free a pod of the broken one.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_stateful_set_is_told_and_freed_by_one_deletion() {
    with_bed("stuck", async |bed| {
        let set = |symptoms: Value| bed.workload("StatefulSet", "db", &symptoms, json!({"replicas": 3}));
        let live = bed.apply(set(no_symptom())).await;
        ready(&bed, &live).await;
        let live = bed.apply(set(json!({"image-pull-error": "true"}))).await;
        assert_holds(&failure(&bed, &live, true).await.reason, "pod db-2, container main");
        let live = bed.apply(set(no_symptom())).await;
        let stuck = failure(&bed, &live, true).await;
        let want = format!("the pod {}/db-2 of an earlier revision blocks the rollout", bed.namespace);
        assert_holds(&stuck.reason, &want);
        assert_holds(&stuck.reason, &format!("kubectl delete pod db-2 --namespace {}", bed.namespace));
        assert_eq!(stuck.diagnosis.pod.unwrap().name, "db-2");
        bed.delete(&bed.reference("Pod", "db-2")).await;
        ready(&bed, &live).await;
    })
    .await;
}

/// Returns the mutations that the server carried out.
fn carried_out(sink: &Kept) -> Vec<String> {
    let done = |event| match event {
        Event::Answered { mutation, result: MutationResult::Done } => {
            Some(format!("{} {}", mutation.verb, mutation.object.name))
        }
        _ => None,
    };
    sink.events().into_iter().filter_map(done).collect()
}

/// A pod that changes between being read and being deleted is another version, and stays; until it is still.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_pod_that_keeps_changing_is_freed_later() {
    with_bed("restless", async |bed| {
        let set = |symptoms: Value| bed.workload("StatefulSet", "db", &symptoms, json!({"replicas": 1}));
        let live = bed.apply(set(json!({"image-pull-error": "true"}))).await;
        let pod = loop {
            if let Some(pod) = bed.cluster.get(&bed.reference("Pod", "db-0")).await.unwrap() {
                break pod;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        bed.apply(set(no_symptom())).await;
        // For longer than a pod is left alone before it is deleted; by several at once, as one is too slow.
        let end = tokio::time::Instant::now() + Duration::from_secs(8);
        let restless = futures::future::join_all((0..8).map(async |writer| {
            for number in 0.. {
                let annotations = json!({"example.com/number": format!("{writer}-{number}")});
                let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-0",
                    "namespace": bed.namespace, "uid": pod.uid(), "annotations": annotations}});
                if tokio::time::Instant::now() >= end || bed.try_apply(body).await.is_err() {
                    break;
                }
            }
        }));
        let sink = Kept::default();
        let options = Options {
            deadline: Duration::from_mins(1),
            sink: &sink,
            stop: CancellationToken::new(),
            grace: Grace { blocked: Duration::from_secs(30), ..short() },
            rescue: true,
        };
        let target = Target { generation: Some(2), ..Target::of(&live, true) };
        let (waited, _) = tokio::join!(wait(&bed.cluster, vec![target], options), restless);
        waited.unwrap();
        assert_eq!(carried_out(&sink), ["delete db-0"]);
    })
    .await;
}

/// Kubernetes issue 49637: the deadline of the broken rollout must not fail the one that mends it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_stateful_set_is_freed_where_that_is_allowed() {
    with_bed("rescue", async |bed| {
        let set = |symptoms: Value| bed.workload("StatefulSet", "db", &symptoms, json!({"replicas": 3}));
        let live = bed.apply(set(no_symptom())).await;
        ready(&bed, &live).await;
        let first = bed.cluster.get(&bed.reference("Pod", "db-0")).await.unwrap().unwrap();
        let live = bed.apply(set(json!({"crash-loop": "true"}))).await;
        let sink = Kept::default();
        let options = |grace| Options {
            deadline: Duration::from_mins(1),
            sink: &sink,
            stop: CancellationToken::new(),
            grace,
            rescue: true,
        };
        // The new revision is what fails: there is nothing to free.
        let failed = wait(&bed.cluster, vec![Target::of(&live, true)], options(short())).await;
        assert!(matches!(failed, Err(RolloutError::Failed { .. })), "{failed:?}");
        let live = bed.apply(set(no_symptom())).await;
        let patient = Grace { blocked: Duration::from_secs(20), ..short() };
        wait(&bed.cluster, vec![Target::of(&live, true)], options(patient)).await.unwrap();
        assert_eq!(carried_out(&sink), ["delete db-2"]);
        let after = bed.cluster.get(&bed.reference("Pod", "db-0")).await.unwrap().unwrap();
        assert_eq!(after.uid(), first.uid(), "a ready pod must never be touched");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_counts_only_for_its_own_rollout() {
    with_bed("deadline", async |bed| {
        let spec = || json!({"replicas": 1, "progressDeadlineSeconds": 5});
        let good = || bed.workload("Deployment", "web", &json!({"ready-after": "1s"}), spec());
        let live = bed.apply(good()).await;
        ready(&bed, &live).await;
        let live =
            bed.apply(bed.workload("Deployment", "web", &json!({"ready-after": "never"}), spec())).await;
        assert_holds(&failure(&bed, &live, true).await.reason, "ProgressDeadlineExceeded");
        // The time of a condition and of an apply have no fractions of a second.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let live = bed.apply(good()).await;
        ready(&bed, &live).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_nobody_provisions_is_told() {
    with_bed("claim", async |bed| {
        let class = bed.own("none");
        bed.apply(
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
            "provisioner": "kubernetes.io/no-provisioner"}),
        )
        .await;
        let claims = Bed::claim_template("data", &class);
        let spec = json!({"replicas": 1, "volumeClaimTemplates": claims});
        let live = bed.apply(bed.workload("StatefulSet", "db", &no_symptom(), spec)).await;
        let failure = failure(&bed, &live, true).await;
        assert_holds(&failure.reason, "pod db-0: no node takes it");
        assert_eq!(failure.diagnosis.unbound_claims, ["data-db-0"]);
        assert!(failure.diagnosis.pod.unwrap().unschedulable.is_some());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_over_the_quota_are_told() {
    with_bed("quota", async |bed| {
        bed.apply(json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "small", "namespace": bed.namespace}, "spec": {"hard": {"pods": "0"}}}))
            .await;
        for kind in ["StatefulSet", "Deployment", "DaemonSet", "Job"] {
            let live = bed.apply(bed.workload(kind, "x", &no_symptom(), json!({}))).await;
            let failure = failure(&bed, &live, true).await;
            assert_holds(&failure.reason, "exceeded quota");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_changes_nothing_does_not_accept_a_broken_workload() {
    with_bed("noop", async |bed| {
        let symptoms = json!({"config-error": "missing-key"});
        let live = bed.apply(bed.workload("Deployment", "web", &symptoms, json!({"replicas": 1}))).await;
        assert_holds(&failure(&bed, &live, false).await.reason, "CreateContainerConfigError");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_fails_is_told_with_its_reason() {
    with_bed("job", async |bed| {
        let symptoms = json!({"exit-code": "3"});
        let live = bed.apply(bed.workload("Job", "once", &symptoms, json!({"backoffLimit": 0}))).await;
        assert_holds(&failure(&bed, &live, true).await.reason, "BackoffLimitExceeded");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_failure_ends_the_wait_for_all() {
    with_bed("first", async |bed| {
        let never =
            bed.workload("Deployment", "slow", &json!({"ready-after": "never"}), json!({"replicas": 1}));
        let slow = bed.apply(never).await;
        let bad =
            bed.workload("Deployment", "bad", &json!({"image-pull-error": "true"}), json!({"replicas": 1}));
        let bad = bed.apply(bad).await;
        let targets = vec![Target::of(&slow, true), Target::of(&bad, true)];
        let error = wait_for(&bed, targets, 60).await.unwrap_err();
        let RolloutError::Failed { failures, unfinished } = error else { panic!("{error:?}") };
        assert_eq!((failures.len(), &failures[0].object), (1, bad.reference()));
        assert_eq!((unfinished.len(), &unfinished[0].object), (1, slow.reference()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_meanwhile_fails() {
    with_bed("gone", async |bed| {
        let never =
            bed.workload("Deployment", "web", &json!({"ready-after": "never"}), json!({"replicas": 1}));
        let live = bed.apply(never).await;
        let (failure, ()) = tokio::join!(failure(&bed, &live, true), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            bed.delete(live.reference()).await;
        });
        assert_eq!(failure.reason, "does not exist: it was deleted by someone else");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_no_failure() {
    with_bed("stop", async |bed| {
        let never =
            bed.workload("Deployment", "web", &json!({"ready-after": "never"}), json!({"replicas": 1}));
        let live = bed.apply(never).await;
        let (sink, stop) = (Kept::default(), CancellationToken::new());
        let deadline = Duration::from_mins(1);
        let options = Options { deadline, sink: &sink, stop: stop.clone(), grace: short(), rescue: false };
        let (result, ()) = tokio::join!(wait(&bed.cluster, vec![Target::of(&live, true)], options), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            stop.cancel();
        });
        let error = result.unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Interrupted);
        let RolloutError::Interrupted { unfinished } = error else { panic!("{error:?}") };
        assert_eq!(unfinished[0].object, *live.reference());
    })
    .await;
}

/// The binary may run a stage on any of its threads.
#[test]
fn stages_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    fn check(cluster: &Cluster, tree: &SourceTree, options: Options<'_>, smoke: SmokeOptions<'_>) {
        is_send(wait(cluster, Vec::new(), options));
        is_send(windlass_rollout::smoke(cluster, &[], "dev", tree, smoke));
    }
    let _: fn(&Cluster, &SourceTree, Options<'_>, SmokeOptions<'_>) = check;
}
