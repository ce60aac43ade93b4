use std::time::Duration;

use serde_json::json;
use windlass_cluster::Propagation;
use windlass_model::{Clock, EnvironmentName, ExitCode, GroupKind, Object, ObjectRef};
use windlass_record::{Holder, Lock, LockError, RecordError, Store};

use crate::bed::{Bed, clock, holder, late_clock, until};
use crate::line::Line;

const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_mins(1);
const NOW: Duration = Duration::ZERO;

fn reference(store: &Store) -> ObjectRef {
    ObjectRef {
        kind: GroupKind::new("coordination.k8s.io", "Lease"),
        version: "v1".into(),
        namespace: Some(store.namespace().into()),
        name: format!("windlass-{}", store.environment()),
    }
}

async fn live(bed: &Bed) -> Option<Object> {
    bed.cluster.get(&reference(&bed.store)).await.unwrap()
}

fn renewed(lease: Option<&Object>) -> String {
    lease.unwrap().body()["spec"]["renewTime"].as_str().unwrap_or_default().to_owned()
}

async fn acquire(
    store: &Store,
    holder: Holder,
    lease: Duration,
    wait: Duration,
    clock: Clock,
) -> Result<Lock, LockError> {
    Lock::acquire(store, holder, lease, wait, clock, |_| {}).await
}

async fn lost(lock: &Lock) -> LockError {
    tokio::time::timeout(Duration::from_secs(30), lock.lost().cancelled())
        .await
        .expect("the loss is noticed");
    lock.check().unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_twelve_runs_one_gets_the_lock() {
    let bed = Bed::up().await;
    let take =
        async |number: usize| acquire(&bed.store, holder(&format!("r{number}")), LONG, NOW, clock()).await;
    let results = futures::future::join_all((0..12).map(take)).await;
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    for error in lost {
        let error = error.unwrap_err();
        assert!(matches!(error, LockError::Held { .. }), "{error}");
        assert_eq!(error.exit_code(), ExitCode::Locked);
        assert!(error.hint().contains("windlass unlock --holder r"), "{}", error.hint());
    }
    for lock in won {
        lock.unwrap().release().await.unwrap();
    }
    bed.down().await;
}

#[tokio::test]
async fn a_released_lock_is_free_at_once() {
    let bed = Bed::up().await;
    for run in ["r1", "r2"] {
        let lock = acquire(&bed.store, holder(run), LONG, NOW, clock()).await.unwrap();
        let status = Lock::status(&bed.store).await.unwrap().unwrap();
        assert_eq!(status.holder.as_ref(), Some(lock.holder()));
        lock.release().await.unwrap();
        assert_eq!(Lock::status(&bed.store).await.unwrap(), None);
    }
    assert_eq!(live(&bed).await.unwrap().body()["spec"]["leaseTransitions"], 1);
    bed.down().await;
}

#[tokio::test]
async fn the_lock_of_a_dead_run_is_taken_over_by_one_that_waits() {
    let bed = Bed::up().await;
    drop(acquire(&bed.store, holder("dead"), SHORT, NOW, clock()).await.unwrap());
    let soon = acquire(&bed.store, holder("r1"), LONG, NOW, clock()).await;
    assert!(matches!(soon, Err(LockError::Held { .. })), "a lock is not taken before it has run out");
    let lock = acquire(&bed.store, holder("r1"), LONG, Duration::from_secs(30), clock()).await.unwrap();
    assert_eq!(Lock::status(&bed.store).await.unwrap().unwrap().id, "r1");
    lock.release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn the_lock_of_a_run_that_died_long_ago_is_taken_over_without_asking_to_wait() {
    let bed = Bed::up().await;
    drop(acquire(&bed.store, holder("dead"), SHORT, NOW, late_clock()).await.unwrap());
    acquire(&bed.store, holder("r1"), LONG, NOW, clock()).await.unwrap().release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn a_live_run_whose_clock_is_late_keeps_its_lock() {
    let bed = Bed::up().await;
    let lock = acquire(&bed.store, holder("late"), SHORT, NOW, late_clock()).await.unwrap();
    let other = acquire(&bed.store, holder("r1"), LONG, NOW, clock()).await;
    assert!(matches!(other, Err(LockError::Held { .. })), "{other:?}");
    lock.check().unwrap();
    lock.release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn a_held_lock_is_renewed_longer_than_it_lasts() {
    let bed = Bed::up().await;
    let lock = acquire(&bed.store, holder("r1"), SHORT, NOW, clock()).await.unwrap();
    for _ in 0..8 {
        let before = renewed(live(&bed).await.as_ref());
        until("a renewal", async || renewed(live(&bed).await.as_ref()) != before).await;
    }
    lock.check().unwrap();
    lock.release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn the_same_run_gets_its_lock_again() {
    let bed = Bed::up().await;
    drop(acquire(&bed.store, holder("r1"), LONG, NOW, clock()).await.unwrap());
    acquire(&bed.store, holder("r1"), LONG, NOW, clock()).await.unwrap().release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn a_broken_lock_is_noticed_by_its_holder() {
    let bed = Bed::up().await;
    let lock = acquire(&bed.store, holder("r1"), SHORT, NOW, clock()).await.unwrap();
    let wrong = Lock::force_release(&bed.store, "r2").await.unwrap_err();
    assert!(matches!(&wrong, LockError::OtherHolder { holder, .. } if holder == "r1"), "{wrong}");
    lock.check().unwrap();
    Lock::force_release(&bed.store, "r1").await.unwrap();
    let thief = acquire(&bed.store, holder("r2"), LONG, NOW, clock()).await.unwrap();
    let error = lost(&lock).await;
    assert!(error.to_string().contains("lost the lock"), "{error}");
    assert!(matches!(lock.release().await, Err(LockError::Lost { .. })));
    assert_eq!(Lock::status(&bed.store).await.unwrap().unwrap().id, "r2", "the thief's lock is left alone");
    thief.release().await.unwrap();
    assert!(matches!(Lock::force_release(&bed.store, "r2").await, Err(LockError::Free)));
    bed.down().await;
}

#[tokio::test]
async fn a_deleted_lease_is_a_lost_lock() {
    let bed = Bed::up().await;
    let lock = acquire(&bed.store, holder("r1"), SHORT, NOW, clock()).await.unwrap();
    let resource = bed.cluster.resource_of(&reference(&bed.store)).await.unwrap();
    until("the Lease is deleted in the version in which it was read", async || {
        let Some(lease) = live(&bed).await else { return true };
        bed.cluster.delete(&resource, &lease, Propagation::Background, false).await.is_ok()
    })
    .await;
    assert!(lost(&lock).await.to_string().contains("deleted"));
    assert!(live(&bed).await.is_none(), "a lost lock does not come back");
    bed.down().await;
}

#[tokio::test]
async fn a_run_that_is_cut_off_gives_its_lock_up_before_another_can_have_it() {
    let bed = Bed::up().await;
    let (line, cluster) = Line::open().await;
    let store = Store::new(cluster, bed.store.namespace(), bed.store.environment().clone());
    let lock = acquire(&store, holder("r1"), SHORT, NOW, clock()).await.unwrap();
    line.cut();
    let other = acquire(&bed.store, holder("r2"), LONG, Duration::from_secs(30), clock()).await.unwrap();
    let error = lock.check().unwrap_err();
    // The lock is free for others, but what is wrong is the way to the server.
    assert!(matches!(error, LockError::NotRenewed { .. }), "{error}");
    assert_eq!(error.exit_code(), ExitCode::Unreachable, "{error}");
    other.release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn an_annotation_on_the_lease_is_no_loss() {
    let bed = Bed::up().await;
    let lock = acquire(&bed.store, holder("r1"), SHORT, NOW, clock()).await.unwrap();
    let note = json!([{"op": "add", "path": "/metadata/annotations/note", "value": "looked at"}]);
    let noted = bed.cluster.patch(&live(&bed).await.unwrap(), &note, false).await.unwrap().object;
    until("a renewal after it", async || renewed(live(&bed).await.as_ref()) != renewed(Some(&noted))).await;
    lock.check().unwrap();
    lock.release().await.unwrap();
    bed.down().await;
}

#[tokio::test]
async fn a_missing_record_namespace_is_said_plainly() {
    let bed = Bed::up().await;
    let store = Store::new(bed.cluster.clone(), "no-such-namespace", EnvironmentName::new("prd").unwrap());
    let error = acquire(&store, holder("r1"), LONG, NOW, clock()).await.unwrap_err();
    assert!(matches!(error, LockError::Record(RecordError::NamespaceMissing { .. })), "{error}");
    assert!(error.hint().contains("kubectl apply -f pipeline/rbac/"));
    bed.down().await;
}
