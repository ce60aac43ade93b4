//! What follows from a change beside the changed object itself.

use serde_json::{Value, json};
use windlass_model::Toll;
use windlass_plan::ObjectKey;

use crate::world::{World, config, failure, live, member, named, object};

fn deployment(image: &str, source: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "web", "image": image, "envFrom": [source]}]}}}})
}

/// A unit of a ConfigMap that changes, and a Deployment that reads it.
fn changed_config(image: &str) -> World {
    let source = json!({"configMapRef": {"name": "conf"}});
    let (new, web) = (config("conf", &json!({"k": "2"})), deployment(image, &source));
    World::new()
        .unit("shop", &[new.clone(), web.clone()])
        .answered(&new, Some(member("shop", config("conf", &json!({"k": "1"})))), member("shop", new.clone()))
        .answered(&web, Some(member("shop", deployment("a", &source))), member("shop", web.clone()))
}

#[test]
fn a_changed_config_map_says_who_notices_it() {
    let keeps = "note: the pods of Deployment.apps shop/web keep the old values until they are restarted";
    changed_config("a").check(0, &[&["update configmap", "[routine]", keeps], &["no-op deployment"]]);
    let reads = "note: Deployment.apps shop/web reads the new values: its pods restart with this commit";
    changed_config("b").check(
        0,
        &[
            &["update configmap", "[routine]", reads],
            &["update deployment", "[restart]", "all pods (2) are replaced", "because of: image of web"],
        ],
    );
}

#[test]
fn a_deleted_custom_resource_is_told_with_what_descends_from_it() {
    let (stays, database) =
        (config("stays", &json!({})), named("postgresql.cnpg.io/v1", "Cluster", Some("shop"), "prod"));
    let pod = object(named("v1", "Pod", Some("shop"), "prod-1"));
    let mut claim = named("v1", "PersistentVolumeClaim", Some("shop"), "prod-1");
    claim["spec"] = json!({"volumeName": "pv-1", "resources": {"requests": {"storage": "1Ti"}}});
    let mut world = World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &database])
        .candidate(member("shop", database.clone()))
        .allow("Cluster.postgresql.cnpg.io", Some("shop"), "prod", "2026-06-30");
    let key = ObjectKey::from(object(database).reference());
    world.observation.descendants.insert(key, Ok(vec![pod, object(claim)]));
    world.check(
        0,
        &[
            &["no-op"],
            &[
                "prune cluster",
                "[data]",
                "cascade: takes along 1 pod and 1 claim; 1 TiB in 1 volume destroyed: prod-1",
                "note: CloudNativePG deletes all claims with it",
            ],
        ],
    );
}

/// The server answers 403: its administrator looked for a missing right.
#[test]
fn a_class_that_does_not_allow_growth_is_no_missing_right() {
    let claim = |size: &str| {
        let mut body = named("v1", "PersistentVolumeClaim", Some("shop"), "data");
        body["spec"] = json!({"storageClassName": "fixed", "resources": {"requests": {"storage": size}}});
        body
    };
    let answer = failure(
        403,
        "Forbidden",
        "persistentvolumeclaims \"data\" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
        &json!([]),
    );
    let larger = claim("2Gi");
    let mut world = World::new().unit("shop", std::slice::from_ref(&larger)).refused(
        &larger,
        Some(member("shop", claim("1Gi"))),
        answer,
    );
    let mut class = named("storage.k8s.io/v1", "StorageClass", None, "fixed");
    class["allowVolumeExpansion"] = false.into();
    world.observation.classes.insert("fixed".into(), object(class));
    world.check(
        4,
        &[&[
            "update persistentvolumeclaim",
            "problem the claim cannot grow",
            "`fixed` does not allow growth",
        ]],
    );
}

/// The server accepts the change, and the namespace takes it along.
#[test]
fn a_change_in_a_namespace_that_is_being_deleted_is_a_problem() {
    let desired = config("a", &json!({"k": "2"}));
    let mut world = World::new().unit("shop", std::slice::from_ref(&desired)).answered(
        &desired,
        Some(member("shop", config("a", &json!({"k": "1"})))),
        member("shop", desired.clone()),
    );
    let mut namespace = live(named("v1", "Namespace", None, "shop"));
    namespace["metadata"]["deletionTimestamp"] = "2026-06-14T00:00:00Z".into();
    world.observation.namespaces.insert("shop".into(), object(namespace));
    world
        .check(4, &[&["update configmap", "problem the namespace `shop` is being deleted since 2026-06-14"]]);
}

/// A namespace, the StatefulSet in it and a claim of that set take the same volume along.
#[test]
fn what_goes_with_several_deletions_is_counted_once() {
    let stays = config("stays", &json!({}));
    let namespace = named("v1", "Namespace", None, "old");
    let mut set = named("apps/v1", "StatefulSet", Some("old"), "db");
    set["spec"] = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
    let mut claim = named("v1", "PersistentVolumeClaim", Some("old"), "data-db-0");
    claim["spec"] = json!({"volumeName": "pv-1", "resources": {"requests": {"storage": "8Gi"}}});
    let pod = named("v1", "Pod", Some("old"), "db-0");
    let mut world = World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &namespace, &set, &claim]);
    for gone in [&namespace, &set, &claim] {
        world = world.candidate(member("shop", gone.clone()));
        let key = ObjectKey::from(object(gone.clone()).reference());
        let along = [&pod, &claim].map(|body| object(body.clone()));
        world.observation.descendants.insert(key, Ok(along.to_vec()));
    }
    world.observation.claims = [object(claim)].into_iter().collect();
    let want = Toll {
        deleted_pods: 1,
        deleted_claims: 1,
        destroyed_volumes: 1,
        destroyed_bytes: 8 << 30,
        ..Toll::default()
    };
    assert_eq!(world.plan().toll, want);
    let mut volume = named("v1", "PersistentVolume", None, "pv-1");
    volume["spec"] = json!({"persistentVolumeReclaimPolicy": "Retain"});
    world.observation.volumes.insert("pv-1".into(), object(volume));
    let want = Toll { destroyed_volumes: 0, destroyed_bytes: 0, ..want };
    assert_eq!(world.plan().toll, want);
    for found in world.observation.descendants.values_mut().take(1) {
        *found = Err("forbidden".into());
    }
    assert_eq!(world.plan().toll.uncounted_deletions, 1);
}

#[test]
fn restarts_are_ordered_and_added_up_across_units() {
    let source = json!({"configMapRef": {"name": "other"}});
    let in_namespace = |name: &str, image: &str| {
        let mut body = deployment(image, &source);
        body["metadata"]["name"] = name.into();
        body
    };
    let mut world = World::new();
    for (unit, name) in [("infra", "operator"), ("shop", "web")] {
        let (old, new) = (in_namespace(name, "a"), in_namespace(name, "b"));
        world = world.unit(unit, std::slice::from_ref(&new)).answered(
            &new,
            Some(member(unit, old)),
            member(unit, new.clone()),
        );
    }
    let plan = world.plan();
    let steps: Vec<(usize, &str)> =
        plan.restarts().iter().map(|step| (step.step, step.object.name.as_str())).collect();
    assert_eq!(steps, [(1, "operator"), (2, "web")]);
    assert_eq!(plan.toll, Toll { restarted_pods: 4, ..Toll::default() });
}
