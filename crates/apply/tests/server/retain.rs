//! Volumes that are kept when their claims are deleted.

use std::time::Duration;

use serde_json::json;
use windlass_apply::{ApplyError, Pruned, apply, prune_within};
use windlass_model::{Action, Object, Operation, Rendering, RetainedVolume};

use crate::bed::{Bed, object};
use crate::losses;
use crate::plan::{approve, plan, rendering};

const CLAIM: &str = "data";

/// A volume that is reserved for a claim.
pub(crate) fn volume(bed: &Bed, claim: &str) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": bed.namespace},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "", "hostPath": {"path": "/tmp/none"},
            "claimRef": {"namespace": bed.namespace, "name": claim},
        },
    }))
}

fn claim(bed: &Bed) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": bed.namespace},
        "spec": {
            "volumeName": bed.namespace, "storageClassName": "", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }))
}

/// Delivers a claim, waits until it is bound to a volume, and prunes it by a plan that keeps the volume.
async fn pruned(bed: &Bed, change: impl FnOnce(&mut RetainedVolume)) -> Result<Pruned, ApplyError> {
    pruned_after(bed, change, async || ()).await
}

/// Does the same; something else happens between plan and deletion.
async fn pruned_after(
    bed: &Bed,
    change: impl FnOnce(&mut RetainedVolume),
    between: impl AsyncFnOnce(),
) -> Result<Pruned, ApplyError> {
    let stays = bed.map("stays", "1");
    bed.put(&volume(bed, CLAIM)).await;
    bed.run(&rendering(&[("shop", &[stays.clone(), claim(bed)])])).await.unwrap();
    let bound = async {
        while bed.get(claim(bed).reference()).await.unwrap().body()["status"]["phase"] != "Bound" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), bound).await.expect("the claim is bound");
    bed.sink.writes();
    let next: Rendering = rendering(&[("shop", &[stays])]);
    let mut plan = plan(bed, &next).await;
    let uid = bed.get(volume(bed, CLAIM).reference()).await.unwrap().uid().unwrap().to_owned();
    let mut kept = RetainedVolume { uid, ..retained(bed) };
    change(&mut kept);
    let action = plan.actions.iter_mut().find(|action| action.operation == Operation::Prune).unwrap();
    action.retains = vec![kept];
    let approved = approve(plan);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    between().await;
    prune_within(Duration::from_secs(2), &applied, &approved, &next, &bed.context()).await
}

fn retained(bed: &Bed) -> RetainedVolume {
    RetainedVolume {
        name: bed.namespace.clone(),
        uid: String::new(),
        namespace: bed.namespace.clone(),
        claim: CLAIM.into(),
        capacity: "1Gi".into(),
        access_modes: vec!["ReadWriteOnce".into()],
        storage_class: String::new(),
        volume_mode: "Filesystem".into(),
    }
}

async fn down(bed: Bed) {
    bed.delete(volume(&bed, CLAIM).reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn a_volume_is_kept_before_its_claim_goes() {
    let bed = Bed::up().await;
    let pruned = pruned(&bed, |_| ()).await.unwrap();
    assert_eq!(bed.sink.writes()[..2], [format!("patch {}", bed.namespace), "delete data".into()]);
    assert_eq!(pruned.retained.len(), 1);
    assert!(bed.get(claim(&bed).reference()).await.is_none());
    let left = bed.get(volume(&bed, CLAIM).reference()).await.unwrap();
    assert_eq!(left.body()["spec"]["persistentVolumeReclaimPolicy"], "Retain");
    down(bed).await;
}

/// Said to be kept, it had been left to whoever deleted the claim before: its volume went once the claim was free to go.
#[tokio::test]
async fn the_volume_of_a_claim_that_somebody_else_has_deleted_is_kept_too() {
    let policy = "persistentVolumeReclaimPolicy";
    let bed = Bed::up().await;
    let hold = json!([{"op": "add", "path": "/metadata/finalizers/-", "value": "test.windlass.dev/hold"}]);
    let going = async || {
        bed.edit(claim(&bed).reference(), hold).await;
        bed.delete(claim(&bed).reference()).await;
    };
    let pruned = pruned_after(&bed, |_| (), going).await.unwrap();
    assert_eq!(pruned.retained.len(), 1);
    assert_eq!(bed.get(volume(&bed, CLAIM).reference()).await.unwrap().body()["spec"][policy], "Retain");
    bed.edit(claim(&bed).reference(), json!([{"op": "remove", "path": "/metadata/finalizers"}])).await;
    down(bed).await;
    // Gone altogether, with a volume that nobody has got to yet.
    let bed = Bed::up().await;
    let gone = async || {
        let retain = json!([{"op": "replace", "path": format!("/spec/{policy}"), "value": "Retain"}]);
        bed.edit(volume(&bed, CLAIM).reference(), retain).await;
        bed.delete(claim(&bed).reference()).await;
        while bed.get(claim(&bed).reference()).await.is_some() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let pruned = pruned_after(&bed, |_| (), gone).await.unwrap();
    assert_eq!((pruned.absent.len(), pruned.retained.len()), (1, 1));
    down(bed).await;
    let bed = Bed::up().await;
    let lost = async || {
        bed.delete(claim(&bed).reference()).await;
        while bed.get(volume(&bed, CLAIM).reference()).await.is_some_and(|volume| !volume.is_terminating()) {
            bed.delete(volume(&bed, CLAIM).reference()).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        while bed.get(volume(&bed, CLAIM).reference()).await.is_some() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let pruned = pruned_after(&bed, |_| (), lost).await.unwrap();
    assert_eq!((pruned.absent.len(), pruned.retained.len()), (1, 0));
    assert!(bed.sink.text().contains("may be lost"), "{}", bed.sink.text());
    bed.down().await;
}

/// The set's controller deletes the claims, whenever it gets to it.
#[tokio::test]
async fn volumes_of_a_set_are_kept_before_it_goes() {
    let bed = Bed::up().await;
    let comes = async |_: &Object| losses::bind(&bed, &losses::claim(&bed, None)).await;
    let set = losses::set(&bed, "Delete", None);
    bed.put(&volume(&bed, losses::CLAIM)).await;
    let uid = bed.get(volume(&bed, CLAIM).reference()).await.unwrap().uid().unwrap().to_owned();
    let keeps = |action: &mut Action| {
        action.retains = vec![RetainedVolume { claim: losses::CLAIM.into(), uid, ..retained(&bed) }];
    };
    let pruned = losses::pruned(&bed, &set, keeps, comes).await;
    assert_eq!((pruned.deleted.len(), pruned.retained.len()), (1, 1));
    let writes = bed.sink.writes();
    let place = |write: &str| writes.iter().position(|written| written == write).unwrap();
    assert!(place(&format!("patch {}", bed.namespace)) < place("delete db"), "{writes:?}");
    let left = bed.get(volume(&bed, CLAIM).reference()).await.unwrap();
    assert_eq!(left.body()["spec"]["persistentVolumeReclaimPolicy"], "Retain");
    bed.delete(losses::claim(&bed, None).reference()).await;
    down(bed).await;
}

#[tokio::test]
async fn a_claim_stays_if_its_volume_cannot_be_kept() {
    let check = async |change: fn(&mut RetainedVolume), want: &str| {
        let bed = Bed::up().await;
        let error = pruned(&bed, change).await.unwrap_err();
        assert!(matches!(error, ApplyError::Prune { .. }) && error.to_string().contains(want), "{error}");
        assert!(bed.get(claim(&bed).reference()).await.is_some_and(|live| !live.is_terminating()));
        let volume = bed.get(volume(&bed, CLAIM).reference()).await.unwrap();
        assert_eq!(volume.body()["spec"]["persistentVolumeReclaimPolicy"], "Delete");
        bed.delete(claim(&bed).reference()).await;
        down(bed).await;
    };
    check(|volume| volume.claim = "other".into(), "is not bound to the claim").await;
    check(|volume| volume.uid = "other".into(), "created again").await;
    check(|volume| volume.name = "no-such-volume".into(), "was deleted").await;
}
