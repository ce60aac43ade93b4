use std::time::Duration;

use windlass_apply::ApplyError;
use windlass_model::{ExitCode, Operation};

use crate::bed::{Bed, counts};
use crate::plan::{approve, plan, rendering};

#[tokio::test]
async fn a_second_run_writes_nothing() {
    let bed = Bed::up().await;
    let both =
        rendering(&[("infra", &[bed.map("a", "1"), bed.map("b", "1")]), ("shop", &[bed.map("c", "1")])]);
    let applied = bed.apply(&both).await.unwrap();
    assert_eq!(applied.changed(), 3);
    let parent = |unit: &str| bed.set(unit).parent().name;
    assert_eq!(
        bed.sink.writes(),
        [
            format!("create {}", parent("infra")),
            "create a".into(),
            "create b".into(),
            format!("create {}", parent("shop")),
            "create c".into()
        ]
    );
    let references = || both.objects().map(|(_, object)| object.reference().clone());
    let mut versions = Vec::new();
    for reference in references().chain([bed.set("infra").parent(), bed.set("shop").parent()]) {
        let live = bed.get(&reference).await.unwrap();
        versions.push((reference, live.resource_version().map(str::to_owned)));
    }
    let pruned = bed.run(&both).await.unwrap();
    assert!(pruned.is_complete() && pruned.deleted.is_empty());
    assert_eq!(bed.sink.writes(), [""; 0]);
    for (reference, version) in versions {
        assert_eq!(bed.get(&reference).await.unwrap().resource_version(), version.as_deref(), "{reference}");
    }
    let sets = [bed.set("infra").id(), bed.set("infra").id(), bed.set("shop").id()];
    for (reference, set) in references().zip(sets) {
        let live = bed.get(&reference).await.unwrap();
        assert_eq!(applied.live(&reference).map(|live| live.uid.as_str()), live.uid());
        assert_eq!(live.label(windlass_model::PART_OF), Some(set.as_str()));
    }
    bed.down().await;
}

#[tokio::test]
async fn only_what_differs_is_written() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])])).await.unwrap();
    bed.sink.writes();
    let next = rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "2")])]);
    let applied = bed.apply(&next).await.unwrap();
    assert_eq!(bed.sink.writes(), ["update b"]);
    assert!(
        applied.has_written(bed.map("b", "").reference())
            && !applied.has_written(bed.map("a", "").reference())
    );
    assert_eq!(bed.get(bed.map("b", "").reference()).await.unwrap().body()["data"]["k"], "2");
    bed.down().await;
}

#[tokio::test]
async fn a_stopped_run_is_finished_by_the_next() {
    let bed = Bed::up().await;
    let objects: Vec<_> = (0..6).map(|number| bed.map(&format!("m{number}"), "1")).collect();
    let all = rendering(&[("shop", &objects)]);
    let stop = bed.stop.clone();
    bed.sink.before("m3", move || stop.cancel());
    let error = bed.apply(&all).await.unwrap_err();
    assert!(matches!(&error, ApplyError::Interrupted { touched } if touched.len() == 3), "{error}");
    assert_eq!(error.exit_code(), ExitCode::Interrupted);
    assert!(
        bed.get(objects[3].reference()).await.is_none(),
        "what was stopped when it was announced is not sent"
    );
    // The next process has a signal of its own.
    let mut bed = bed;
    bed.stop = tokio_util::sync::CancellationToken::new();
    bed.sink = crate::bed::Recorder::default();
    let rest = plan(&bed, &all).await;
    counts(&rest, &[(Operation::NoOp, 3), (Operation::Create, 3)]);
    bed.run(&all).await.unwrap();
    assert_eq!(bed.sink.writes(), ["create m3", "create m4", "create m5"]);
    bed.down().await;
}

#[tokio::test]
async fn a_failure_stops_later_ranks_and_units_and_nothing_is_pruned() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("old", "1")])])).await.unwrap();
    let service = crate::bed::object(serde_json::json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": bed.namespace},
        "spec": {"ports": [{"port": 0}]},
    }));
    let later = crate::bed::object(serde_json::json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "p", "namespace": bed.namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
    }));
    let units = rendering(&[("shop", &[later, service, bed.map("a", "1")]), ("web", &[bed.map("w", "1")])]);
    bed.sink.writes();
    let error = bed.run(&units).await.unwrap_err();
    let ApplyError::Partial { applied, failures } = &error else { panic!("{error}") };
    assert_eq!(applied.iter().map(|object| object.name.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(failures.len(), 1);
    assert!(failures[0].message.contains("spec.ports[0].port"), "{}", failures[0].message);
    assert_eq!(failures[0].hint, "correct the manifest");
    assert_eq!(error.exit_code(), ExitCode::ApplyFailed);
    assert_eq!(bed.sink.writes()[1..], ["create a", "create s"]);
    assert!(bed.get(bed.map("old", "").reference()).await.is_some());
    bed.down().await;
}

#[tokio::test]
async fn secret_values_are_in_no_error_and_no_event() {
    let bed = Bed::up().await;
    let secret = crate::bed::object(serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": bed.namespace},
        "type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "hunter2"}, "hunter2": 1,
    }));
    let error = bed.apply(&rendering(&[("shop", &[secret])])).await.unwrap_err();
    let told = format!("{error} {error:?} {}", bed.sink.text());
    assert!(told.contains("HTTP ") && !told.contains("hunter2"), "{told}");
    bed.down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_and_what_lives_in_it_come_in_one_run() {
    let bed = Bed::up().await;
    let name = format!("{}-inner", bed.namespace);
    let mut objects: Vec<_> = (0..20)
        .map(|number| {
            crate::bed::object(serde_json::json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{number}"), "namespace": name},
            }))
        })
        .collect();
    objects.push(crate::bed::object(serde_json::json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": name},
        "spec": {"serviceAccountName": "runner", "containers": [{"name": "c", "image": "registry.example/c:1"}]},
    })));
    objects.push(crate::bed::object(serde_json::json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner", "namespace": name},
    })));
    objects.push(crate::bed::object(serde_json::json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
    })));
    let all = rendering(&[("shop", &objects)]);
    let approved = approve(plan(&bed, &all).await);
    let context = windlass_apply::Context { concurrency: 8, ..bed.context() };
    // A run may be moved between threads.
    let run: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
        Box::pin(windlass_apply::apply(&approved, &all, &context));
    let applied = tokio::time::timeout(Duration::from_mins(1), run).await.unwrap().unwrap();
    assert_eq!(applied.changed(), 23);
    bed.delete(objects[22].reference()).await;
    bed.down().await;
}
