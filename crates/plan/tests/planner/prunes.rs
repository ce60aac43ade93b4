//! Deletions by evidence.

use serde_json::{Value, json};
use windlass_model::Digest;
use windlass_plan::{ObjectKey, Removal};

use crate::world::{World, config, failure, live, member, named, object};

/// A unit that renders `a` and whose set records `a` and `gone`.
fn world() -> (World, Value) {
    let (stays, gone) = (config("a", &json!({})), config("gone", &json!({})));
    let world = World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &gone])
        .candidate(member("shop", stays.clone()));
    (world, member("shop", gone))
}

#[test]
fn each_piece_of_evidence_is_needed() {
    let check = |change: &dyn Fn(&mut Value), want: &str| {
        let (world, mut gone) = world();
        change(&mut gone);
        world.candidate(gone).check(0, &[&["no-op"], &[want]]);
    };
    check(&|_| {}, "prune configmap shop/gone in shop [deletion]");
    check(&|gone| gone["metadata"]["name"] = "copied".into(), "keep configmap shop/copied in shop [routine]");
    check(
        &|gone| gone["metadata"]["name"] = "copied".into(),
        "the inventory of unit `shop` does not list it",
    );
    check(&|gone| gone["metadata"]["managedFields"] = json!([]), "Windlass owns no field of it");
    let owners = || json!([{"kind": "Postgresql", "name": "db"}]);
    check(&|gone| gone["metadata"]["ownerReferences"] = owners(), "Postgresql db owns it");
    // Operators copy labels: what has an owner alarms nobody, every night.
    check(&|gone| gone["metadata"]["ownerReferences"] = owners(), "keep configmap shop/gone in shop [none]");
    // kubernetes issue 89254.
    check(
        &|gone| gone["metadata"]["deletionTimestamp"] = "2026-06-14T00:00:00Z".into(),
        "already being deleted",
    );
}

#[test]
fn what_another_unit_renders_is_never_deleted() {
    let moved = config("moved", &json!({}));
    World::new()
        .unit("old", &[])
        .unit("new", std::slice::from_ref(&moved))
        .answered(&moved, Some(member("old", moved.clone())), member("new", moved.clone()))
        .set("old", &[&moved])
        .candidate(member("old", moved.clone()))
        .check(0, &[&["update", "moves here from the unit `old`"]]);
}

/// cli-utils issue 613: an Ingress that is known by two API groups is one object.
#[test]
fn an_alias_of_a_rendered_object_is_the_same_object() {
    let new = named("networking.k8s.io/v1", "Ingress", Some("shop"), "web");
    let old = member("shop", named("extensions/v1beta1", "Ingress", Some("shop"), "web"));
    World::new()
        .unit("shop", std::slice::from_ref(&new))
        .settled("shop", &new)
        .set("shop", &[&old])
        .candidate(old)
        .check(0, &[&["no-op ingress.networking.k8s.io"]]);
}

#[test]
fn without_sets_nothing_is_deleted() {
    let (mut world, gone) = world();
    world.observation.sets.clear();
    world.candidate(gone).check(0, &[&["no-op"]]);
}

#[test]
fn a_refused_deletion_is_a_problem_of_its_object() {
    let (mut world, gone) = world();
    world = world.candidate(gone);
    let denied = failure(403, "Forbidden", "admission webhook \"w\" denied the request: keep", &json!([]));
    world.observation.candidates.last_mut().unwrap().removal = Removal::Refused(denied);
    world.check(4, &[&["no-op"], &["prune", "problem denied by policy"]]);
}

/// kustomize-controller issue 1180: generated Secrets are superseded, not lost.
#[test]
fn a_superseded_secret_needs_no_permission() {
    let secret = |name: &str| named("v1", "Secret", Some("shop"), name);
    let new = secret("db-hk7m2bdt9f");
    let check = |old: &str, exit, want: &[&[&str]]| {
        let old = secret(old);
        World::new()
            .unit("shop", std::slice::from_ref(&new))
            .answered(&new, None, live(new.clone()))
            .set("shop", &[&old])
            .candidate(member("shop", old))
            .check(exit, want);
    };
    check("db-5h2ct8kd4m", 0, &[&["create"], &["prune secret", "[deletion]", "replaced by db-hk7m2bdt9f"]]);
    check("mq-5h2ct8kd4m", 4, &[&["create"], &["prune secret", "[data]"], &["refused protected-kind"]]);
    check("db", 4, &[&["create"], &["prune secret", "[data]"], &["refused protected-kind"]]);
}

/// A name that is made from the content says only that something differs.
#[test]
fn a_generated_object_is_compared_with_the_newest_one_that_it_replaces() {
    let config = |name: &str, made: &str, size: &str| {
        let mut body = named("v1", "ConfigMap", Some("shop"), name);
        body["metadata"]["creationTimestamp"] = json!(made);
        body["data"] = json!({"size": size});
        body
    };
    let older = config("db-5h2ct8kd4m", "2026-01-01T00:00:00Z", "1");
    let newer = config("db-6h2ct8kd4m", "2026-02-01T00:00:00Z", "2");
    let new = config("db-hk7m2bdt9f", "2026-03-01T00:00:00Z", "3");
    for both in [[&newer, &older], [&older, &newer]] {
        let mut world = World::new()
            .unit("shop", std::slice::from_ref(&new))
            .answered(&new, None, live(new.clone()))
            .set("shop", &both);
        for old in both {
            world = world.candidate(member("shop", old.clone()));
        }
        let replaces = world.plan().actions[0].replaces.clone().unwrap();
        assert_eq!(replaces.object.name, "db-6h2ct8kd4m");
        let want = json!([{"path": "data.size", "change": "changed", "before": "2", "after": "3"}]);
        assert_eq!(json!(replaces.delta), want);
    }
}

/// kubectl prints a pruned Secret whole.
#[test]
fn a_pruned_secret_shows_no_value() {
    let mut secret = named("v1", "Secret", Some("shop"), "s");
    secret["data"] = json!({"password": "aHVudGVyMg=="});
    secret["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": "{\"password\":\"hunter2\"}"});
    let world = World::new().unit("shop", &[]).set("shop", &[&secret]).candidate(member("shop", secret));
    let json = world.plan().to_json().to_string();
    assert!(json.contains("the values of: password"), "{json}");
    assert!(!json.contains("aHVudGVyMg") && !json.contains("hunter2"), "{json}");
}

/// Approved as "the volume stays", carried out as "the volume goes": whoever approves a deletion approves what it destroys.
#[test]
fn an_approval_of_a_deletion_covers_the_data_it_named_and_no_more() {
    let check = |what: &str, milder: &World, worse: &World| {
        let (milder, worse) = (milder.plan().effects(), worse.plan().effects());
        let covers =
            |approved: &[Digest], planned: &[Digest]| planned.iter().all(|effect| approved.contains(effect));
        assert!(covers(&worse, &milder), "{what}");
        assert!(!covers(&milder, &worse), "{what}");
    };
    let stays = config("stays", &json!({}));
    let claim = |number: u8| {
        let mut claim = named("v1", "PersistentVolumeClaim", Some("shop"), &format!("data-db-{number}"));
        claim["spec"] = json!({"volumeName": format!("pv-{number}")});
        claim
    };
    let going = |gone: &Value, policy: &str| {
        let mut world = World::new()
            .unit("shop", std::slice::from_ref(&stays))
            .settled("shop", &stays)
            .set("shop", &[&stays, gone])
            .candidate(member("shop", gone.clone()));
        world.observation.claims = [claim(0), claim(1)].map(object).into_iter().collect();
        let mut volume = named("v1", "PersistentVolume", None, "pv-0");
        volume["spec"] = json!({"persistentVolumeReclaimPolicy": policy});
        world.observation.volumes.insert("pv-0".into(), object(volume));
        world
    };
    let owning = |gone: &Value, found: Result<Vec<Value>, &str>| {
        let mut world = going(gone, "Delete");
        let key = ObjectKey::from(object(gone.clone()).reference());
        let found = found.map(|found| found.into_iter().map(object).collect()).map_err(str::to_owned);
        world.observation.descendants.insert(key, found);
        world
    };
    check("a volume's policy", &going(&claim(0), "Retain"), &going(&claim(0), "Delete"));
    let set = |rule: &str| {
        let mut set = named("apps/v1", "StatefulSet", Some("shop"), "db");
        set["spec"] = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": rule},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
        set
    };
    check("a set's policy", &going(&set("Retain"), "Delete"), &going(&set("Delete"), "Delete"));
    check("a volume of a set", &going(&set("Delete"), "Retain"), &going(&set("Delete"), "Delete"));
    let custom = named("ex.io/v1", "Foo", Some("shop"), "db");
    let (one, two) = (owning(&custom, Ok(vec![claim(0)])), owning(&custom, Ok(vec![claim(0), claim(1)])));
    check("a claim more", &one, &two);
    check("what cannot be read", &owning(&custom, Ok(vec![])), &owning(&custom, Err("forbidden")));
    let scaled = |policy: &str| {
        let body = |replicas: u8| {
            let mut body = set("Retain");
            body["spec"]["replicas"] = replicas.into();
            body["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"] = policy.into();
            body
        };
        World::new().unit("shop", &[body(1)]).answered(
            &body(1),
            Some(member("shop", body(2))),
            member("shop", body(1)),
        )
    };
    check("scaling down", &scaled("Retain"), &scaled("Delete"));
    // A webhook that takes part in no dry-run: nothing but the preview is impossible.
    let unseen = |rule: &str| {
        let (mut desired, mut before) = (set("Retain"), set("Retain"));
        desired["spec"]["replicas"] = 1.into();
        before["spec"]["replicas"] = 2.into();
        before["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"] = rule.into();
        let words = "admission webhook \"w.example.com\" does not support dry run";
        let failure = failure(400, "BadRequest", words, &json!([]));
        let world = World::new().unit("shop", std::slice::from_ref(&desired));
        world.refused(&desired, Some(member("shop", before)), failure)
    };
    check("scaling down, unseen", &unseen("Retain"), &unseen("Delete"));
}
