//! Volumes that are kept when claims go.

use serde_json::{Value, json};
use windlass_model::{Digest, Plan};

use crate::world::{World, member, named, object};

/// A claim that is bound to a volume, and nothing renders it any more.
fn world(keeps: bool) -> World {
    let mut claim = named("v1", "PersistentVolumeClaim", Some("shop"), "data");
    claim["spec"] = json!({"volumeName": "pv-1", "storageClassName": "fast"});
    let mut volume = named("v1", "PersistentVolume", None, "pv-1");
    volume["metadata"]["uid"] = json!("volume-uid");
    volume["spec"] = json!({
        "persistentVolumeReclaimPolicy": "Delete", "capacity": {"storage": "8Gi"}, "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast", "volumeMode": "Filesystem",
    });
    let mut world = World::new().unit("shop", &[]).set("shop", &[&claim]).candidate(member("shop", claim));
    world.observation.volumes.insert("pv-1".to_owned(), object(volume));
    world.guards.retain_volumes = keeps;
    world
}

fn effect(plan: &Plan) -> Digest {
    plan.effects()[0]
}

#[test]
fn the_plan_names_the_volume_and_the_approval_covers_it() {
    let (kept, lost) = (world(true).plan(), world(false).plan());
    let retains = &kept.to_json()["actions"][0]["retains"];
    assert_eq!(retains[0]["name"], "pv-1");
    assert_eq!(retains[0]["claim"], "data");
    assert_eq!(retains[0]["accessModes"], json!(["ReadWriteOnce"]));
    let told = |plan: &Plan| format!("{:?}", plan.actions[0].forecasts);
    assert!(told(&kept).contains("its reclaim policy Delete is set to Retain first"), "{}", told(&kept));
    assert!(!told(&kept).contains("DataLoss") && told(&lost).contains("DataLoss"), "{}", told(&lost));
    assert_ne!(effect(&kept), effect(&lost));
}

/// A run that was killed after it had changed the policy does the rest under the same approval.
#[test]
fn a_volume_that_is_kept_already_makes_no_other_effect() {
    let before = world(true);
    let mut after = world(true);
    let mut body: Value = after.observation.volumes["pv-1"].body().clone();
    body["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
    after.observation.volumes.insert("pv-1".to_owned(), object(body));
    assert_eq!(effect(&before.plan()), effect(&after.plan()));
}

#[test]
fn a_volume_that_cannot_be_read_is_not_said_to_stay() {
    let mut world = world(true);
    world.observation.volumes.clear();
    let plan = world.plan();
    assert!(plan.actions[0].retains.is_empty());
    assert!(format!("{:?}", plan.actions[0].forecasts).contains("DataLoss"));
}
