//! StatefulSets that replace their pods otherwise than one after the other.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_model::Object;
use windlass_rollout::{Grace, Options, RolledOut, RolloutError, Target, wait};

use crate::bed::{Bed, Kept, with_bed};

async fn rolled_out(bed: &Bed, live: &Object, seconds: u64) -> Result<RolledOut, RolloutError> {
    let (sink, grace) = (Kept::default(), Grace { blocked: Duration::from_secs(30), ..Grace::default() });
    let (deadline, stop) = (Duration::from_secs(seconds), CancellationToken::new());
    let options = Options { deadline, sink: &sink, stop, grace, rescue: false };
    wait(&bed.cluster, vec![Target::of(live, true)], options).await
}

fn set(bed: &Bed, symptoms: &Value, more: &Value) -> Value {
    let mut spec = json!({"replicas": 2});
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    bed.workload("StatefulSet", "db", symptoms, spec)
}

/// kubernetes issue 64500: `kubectl rollout status` fails, although everything is as it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn pods_that_wait_for_their_deletion_are_named_and_no_failure() {
    with_bed("ondelete", async |bed| {
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
        let live = bed.apply(set(&bed, &json!({"logs": "one"}), &on_delete)).await;
        assert!(rolled_out(&bed, &live, 60).await.unwrap().notes().is_empty());
        let live = bed.apply(set(&bed, &json!({"logs": "two"}), &on_delete)).await;
        let done = rolled_out(&bed, &live, 60).await.unwrap();
        let notes: Vec<&str> = done.notes().iter().map(|(_, note)| note.as_str()).collect();
        assert_eq!(notes, ["pods are not updated, because the update strategy is OnDelete: db-0, db-1"]);
        for name in ["db-0", "db-1"] {
            bed.delete(&bed.reference("Pod", name)).await;
        }
        let done = rolled_out(&bed, &live, 60).await.unwrap();
        assert!(done.notes().is_empty(), "{:?}", done.notes());
    })
    .await;
}

/// kubernetes issue 137409: where the server replaces such pods by itself, nobody is told to delete them.
#[tokio::test(flavor = "multi_thread")]
async fn a_first_revision_that_is_broken_heals_where_pods_are_replaced_at_once() {
    with_bed("parallel", async |bed| {
        let parallel = json!({"podManagementPolicy": "Parallel"});
        let broken = bed.apply(set(&bed, &json!({"image-pull-error": "true"}), &parallel)).await;
        let failed = rolled_out(&bed, &broken, 60).await;
        assert!(matches!(failed, Err(RolloutError::Failed { .. })), "{failed:?}");
        let good = bed.apply(set(&bed, &json!({}), &parallel)).await;
        rolled_out(&bed, &good, 60).await.unwrap();
    })
    .await;
}
