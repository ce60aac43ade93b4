//! Volumes that are kept when claims go.

use serde_json::{Value, json};
use windlass_model::{Digest, Object, Operation, Plan};
use windlass_plan::ObjectKey;

use crate::world::{World, config, member, named, object};

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

/// Only the claims that a person deletes themselves were looked at.
#[test]
fn volumes_of_a_set_a_resource_and_a_namespace_are_kept_too() {
    let claim = |name: &str, volume: &str| {
        let mut claim = named("v1", "PersistentVolumeClaim", Some("shop"), name);
        claim["spec"] = json!({"volumeName": volume});
        object(claim)
    };
    let check = |gone: &Value, owned: &[Object], want: &[&str]| {
        let stays = config("stays", &json!({}));
        let mut world = World::new()
            .unit("shop", std::slice::from_ref(&stays))
            .settled("shop", &stays)
            .set("shop", &[&stays, gone])
            .candidate(member("shop", gone.clone()));
        world.guards.retain_volumes = true;
        world.observation.claims = [claim("data-db-0", "pv-0"), claim("other", "pv-1")].into_iter().collect();
        for name in ["pv-0", "pv-1", "pv-2"] {
            let mut volume = named("v1", "PersistentVolume", None, name);
            volume["metadata"]["uid"] = json!(format!("uid-of-{name}"));
            volume["spec"] = json!({"persistentVolumeReclaimPolicy": "Delete"});
            world.observation.volumes.insert(name.to_owned(), object(volume));
        }
        let key = ObjectKey::from(object(gone.clone()).reference());
        world.observation.descendants.insert(key, Ok(owned.to_vec()));
        let plan = world.plan();
        let action = plan.actions.iter().find(|action| action.operation == Operation::Prune).unwrap();
        let kept: Vec<&str> = action.retains.iter().map(|volume| volume.name.as_str()).collect();
        assert_eq!(kept, want, "{gone}");
        assert!(action.destroys.is_empty(), "{gone}: {:?}", action.destroys);
    };
    let set = |rule: &str| {
        let mut set = named("apps/v1", "StatefulSet", Some("shop"), "db");
        set["spec"] = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": rule},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
        set
    };
    check(&set("Delete"), &[], &["pv-0"]);
    check(&set("Retain"), &[], &[]);
    let custom = named("ex.io/v1", "Foo", Some("shop"), "db");
    check(&custom, &[claim("own", "pv-2"), object(set("Delete"))], &["pv-2", "pv-0"]);
    check(&named("v1", "Namespace", None, "shop"), &[], &["pv-0", "pv-1"]);
}

fn effects(plan: &Plan) -> Vec<Digest> {
    plan.effects()
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
    assert_ne!(effects(&kept), effects(&lost));
}

/// A run that was killed after it had changed the policy does the rest under the same approval.
#[test]
fn a_volume_that_is_kept_already_makes_no_other_effect() {
    let before = world(true);
    let mut after = world(true);
    let mut body: Value = after.observation.volumes["pv-1"].body().clone();
    body["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
    after.observation.volumes.insert("pv-1".to_owned(), object(body));
    assert_eq!(effects(&before.plan()), effects(&after.plan()));
}

#[test]
fn a_volume_that_cannot_be_read_is_not_said_to_stay() {
    let mut world = world(true);
    world.observation.volumes.clear();
    let plan = world.plan();
    assert!(plan.actions[0].retains.is_empty());
    assert!(format!("{:?}", plan.actions[0].forecasts).contains("DataLoss"));
    let problem = plan.actions[0].problem.as_ref().unwrap().summary();
    assert!(problem.contains("the volume `pv-1` of") && problem.contains("could not be read"), "{problem}");
}

/// One owner that could not be read made a plan forget the claims that it knew, and nothing was kept.
#[test]
fn of_a_deletion_that_could_not_be_counted_nothing_is_said_to_stay() {
    let check = |keeps: bool| {
        let seen = world(keeps).observation;
        let custom = named("ex.io/v1", "Foo", Some("shop"), "db");
        let mut world =
            World::new().unit("shop", &[]).set("shop", &[&custom]).candidate(member("shop", custom.clone()));
        world.guards.retain_volumes = keeps;
        world.observation.volumes = seen.volumes;
        let claim = seen.candidates[0].object.clone();
        let key = ObjectKey::from(object(custom).reference());
        world.observation.descendants.insert(key.clone(), Err("podsets are forbidden".to_owned()));
        world.observation.known_descendants.insert(key, vec![claim]);
        let plan = world.plan();
        let action = plan.actions.iter().find(|action| action.operation == Operation::Prune).unwrap().clone();
        let told = format!("{:?}", action.forecasts);
        assert!(action.uncounted && told.contains("could not be counted: podsets are forbidden"), "{told}");
        action
    };
    let destroyed = check(false).destroys;
    assert_eq!(destroyed.iter().map(|volume| volume.claim.as_str()).collect::<Vec<_>>(), ["data"]);
    let kept = check(true);
    assert_eq!(kept.retains.len(), 1, "what is known is kept");
    let problem = kept.problem.unwrap().summary();
    assert!(problem.contains("could not be found out"), "{problem}");
}
