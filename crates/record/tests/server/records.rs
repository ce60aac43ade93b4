use jiff::Timestamp;
use serde_json::json;
use windlass_model::{EnvironmentName, GroupKind, ObjectRef, RunId};
use windlass_record::{EnvironmentState, RecordError, RunRecord, Store};

use crate::bed::Bed;

fn record(run: &str) -> RunRecord {
    let environment = EnvironmentName::new("prd").unwrap();
    RunRecord::begin(RunId::parse(run).unwrap(), "run", environment, "jo", Timestamp::UNIX_EPOCH)
}

fn map(bed: &Bed, name: &str) -> ObjectRef {
    ObjectRef {
        kind: GroupKind::new("", "ConfigMap"),
        version: "v1".into(),
        namespace: Some(bed.store.namespace().into()),
        name: name.into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_change_of_the_state_is_lost_to_another() {
    let bed = Bed::up().await;
    assert_eq!(bed.store.state().await.unwrap(), EnvironmentState::default());
    let update = async |number: usize| {
        let nonce = number.to_string();
        let (_, fresh) = bed.store.update(|state| state.consume(&nonce)).await.unwrap();
        fresh
    };
    // Each approval is used twice, at once: it counts once.
    let fresh = futures::future::join_all((0..12).map(|number| update(number % 6))).await;
    assert_eq!(fresh.iter().filter(|fresh| **fresh).count(), 6);
    let mut consumed = bed.store.state().await.unwrap().consumed;
    consumed.sort();
    assert_eq!(consumed, ["0", "1", "2", "3", "4", "5"]);
    bed.down().await;
}

#[tokio::test]
async fn a_change_that_changes_nothing_is_not_written() {
    let bed = Bed::up().await;
    let current = RunId::parse("r1");
    let version = async || {
        let live = bed.cluster.get(&map(&bed, "windlass-prd")).await.unwrap();
        live.unwrap().resource_version().map(str::to_owned)
    };
    bed.store.update(|state| state.current.clone_from(&current)).await.unwrap();
    let before = version().await;
    bed.store.update(|state| state.current.clone_from(&current)).await.unwrap();
    assert_eq!(version().await, before);
    bed.down().await;
}

#[tokio::test]
async fn runs_are_kept_replaced_and_trimmed() {
    let bed = Bed::up().await;
    for run in ["20260101-000000-aaaa", "20260102-000000-aaaa", "20260103-000000-aaaa"] {
        bed.store.save(&record(run)).await.unwrap();
    }
    let mut last = record("20260103-000000-aaaa");
    last.outcome = Some("ok".into());
    bed.store.save(&last).await.unwrap();
    assert_eq!(bed.store.load(&last.id).await.unwrap(), Some(last.clone()));
    let ids = async |limit| -> Vec<String> {
        bed.store.history(limit).await.unwrap().runs.iter().map(|run| run.id.to_string()).collect()
    };
    assert_eq!(ids(2).await, ["20260103-000000-aaaa", "20260102-000000-aaaa"]);
    assert_eq!(bed.store.trim(2).await.unwrap(), 1);
    assert_eq!(bed.store.trim(2).await.unwrap(), 0);
    assert_eq!(ids(9).await, ["20260103-000000-aaaa", "20260102-000000-aaaa"]);
    assert_eq!(bed.store.load(&RunId::parse("20260101-000000-aaaa").unwrap()).await.unwrap(), None);
    bed.down().await;
}

/// A rollback then went back one commit too far.
#[tokio::test]
async fn the_record_of_a_run_that_did_not_complete_is_never_trimmed() {
    let bed = Bed::up().await;
    let failed = record("20260101-000000-aaaa");
    bed.store.save(&failed).await.unwrap();
    bed.store.update(|state| state.current = Some(failed.id.clone())).await.unwrap();
    for run in ["20260102-000000-aaaa", "20260103-000000-aaaa"] {
        bed.store.save(&record(run)).await.unwrap();
    }
    assert_eq!(bed.store.trim(1).await.unwrap(), 1);
    assert_eq!(bed.store.load(&failed.id).await.unwrap(), Some(failed));
    bed.down().await;
}

/// Run ids hold the second of the start and four random characters.
#[tokio::test]
async fn runs_of_one_second_keep_their_order() {
    let bed = Bed::up().await;
    for (run, milliseconds) in
        [("20260101-000000-bbbb", 100), ("20260101-000000-cccc", 900), ("20260101-000000-aaaa", 950)]
    {
        let started_at = Timestamp::from_millisecond(milliseconds).unwrap();
        bed.store.save(&RunRecord { started_at, ..record(run) }).await.unwrap();
    }
    let history = bed.store.history(9).await.unwrap();
    let ids: Vec<&str> = history.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, ["20260101-000000-aaaa", "20260101-000000-cccc", "20260101-000000-bbbb"]);
    assert_eq!(bed.store.trim(1).await.unwrap(), 2);
    assert!(bed.store.load(&RunId::parse("20260101-000000-aaaa").unwrap()).await.unwrap().is_some());
    bed.down().await;
}

#[tokio::test]
async fn a_record_edited_by_hand_hides_no_other() {
    let bed = Bed::up().await;
    for run in ["r1", "r2"] {
        bed.store.save(&record(run)).await.unwrap();
    }
    let live = bed.cluster.get(&map(&bed, "windlass-run-r2")).await.unwrap().unwrap();
    let edit = json!([{"op": "replace", "path": "/data/record", "value": "{}"}]);
    bed.cluster.patch(&live, &edit, false).await.unwrap();
    let history = bed.store.history(9).await.unwrap();
    assert_eq!(history.runs, [record("r1")]);
    assert!(history.unreadable[0].contains("windlass-run-r2"), "{:?}", history.unreadable);
    bed.down().await;
}

#[tokio::test]
async fn a_state_of_a_newer_version_is_not_overwritten() {
    let bed = Bed::up().await;
    bed.store.update(|state| state.consumed.push("n".into())).await.unwrap();
    let live = bed.cluster.get(&map(&bed, "windlass-prd")).await.unwrap().unwrap();
    let edit = json!([{"op": "replace", "path": "/data/state", "value": "{\"schema\": 2}"}]);
    bed.cluster.patch(&live, &edit, false).await.unwrap();
    let error = bed.store.update(|state| state.consumed.clear()).await.unwrap_err();
    assert!(matches!(&error, RecordError::Unreadable { reason, .. } if reason.contains("form 2")), "{error}");
    bed.down().await;
}

#[tokio::test]
async fn a_missing_record_namespace_is_said_plainly() {
    let bed = Bed::up().await;
    let store = Store::new(bed.cluster.clone(), "no-such-namespace", EnvironmentName::new("prd").unwrap());
    let check = |result: Result<(), RecordError>| {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), "the record namespace `no-such-namespace` does not exist");
        assert!(error.hint().contains("kubectl apply -f pipeline/rbac/"));
    };
    check(store.check().await);
    check(store.save(&record("r1")).await);
    check(store.update(|_| ()).await.map(|_| ()));
    bed.down().await;
}
