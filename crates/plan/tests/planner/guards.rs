//! The guards: each refuses what it is there for, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_model::{Digest, GroupKind, ObjectRef};
use windlass_plan::{Definition, ObjectKey, UnreadableParent};
use windlass_settings::{PermissionSource, PruneBudget};

use crate::world::{World, config, member, named, object};

/// A unit that renders one ConfigMap; what is given was delivered before and is not rendered any more.
fn leaving(gone: &[Value]) -> World {
    let stays = config("stays", &json!({}));
    let mut members: Vec<&Value> = gone.iter().collect();
    members.push(&stays);
    let mut world =
        World::new().unit("shop", std::slice::from_ref(&stays)).settled("shop", &stays).set("shop", &members);
    for body in gone {
        world = world.candidate(member("shop", body.clone()));
    }
    world
}

#[test]
fn protected_kinds_need_a_permission_that_names_the_object_and_a_day() {
    let claim = named("v1", "PersistentVolumeClaim", Some("shop"), "data-db-0");
    let kind = "PersistentVolumeClaim";
    let check = |world: World, exit, want: &[&[&str]]| world.check(exit, want);
    let prune: &[&str] = &["prune persistentvolumeclaim shop/data-db-0 in shop [data]"];
    let world = || leaving(std::slice::from_ref(&claim));
    check(world(), 4, &[&["no-op"], prune, &["refused protected-kind", "data-db-0"]]);
    check(
        world().allow(kind, Some("shop"), "data-db-0", "2026-06-15"),
        0,
        &[&["no-op"], &[prune[0], "note: allowed until 2026-06-15: test"]],
    );
    check(
        world().allow(kind, Some("shop"), "data-db-0", "2026-06-14"),
        4,
        &[&["no-op"], prune, &["refused protected-kind", "the permission ended on 2026-06-14"]],
    );
    check(world().allow(kind, None, "data-db-0", "2026-07-01"), 4, &[&["no-op"], prune, &["refused"]]);
}

#[test]
fn protected_kinds_are_the_built_in_ones_custom_resources_and_those_of_the_environment_file() {
    let deployment = named("apps/v1", "Deployment", Some("shop"), "web");
    for (body, refused) in [
        (named("v1", "Secret", Some("shop"), "s"), true),
        (named("apps/v1", "StatefulSet", Some("shop"), "db"), true),
        (named("storage.k8s.io/v1", "StorageClass", None, "fast"), true),
        (named("acid.zalan.do/v1", "Postgresql", Some("shop"), "db"), true),
        (deployment.clone(), false),
        (named("v1", "Service", Some("shop"), "db"), false),
    ] {
        let refusals = leaving(std::slice::from_ref(&body)).plan().refusals;
        let guards: Vec<&str> = refusals.iter().map(|refusal| refusal.guard.as_str()).collect();
        assert_eq!(guards, if refused { vec!["protected-kind"] } else { vec![] }, "{body}");
    }
    let mut world = leaving(&[deployment]);
    world.guards.protected_kinds = vec!["Deployment.apps".into()];
    world.check(4, &[&["no-op"], &["prune"], &["refused protected-kind"]]);
}

#[test]
fn the_budget_is_a_count_and_from_ten_members_on_a_share() {
    let check = |members: usize, gone: usize, count: usize, percent: u8, want: Option<&str>| {
        let names: Vec<Value> = (0..members).map(|i| config(&format!("c{i}"), &json!({}))).collect();
        let (gone, stay) = names.split_at(gone);
        let mut world = World::new().unit("shop", stay).set("shop", &names.iter().collect::<Vec<_>>());
        for body in stay {
            world = world.settled("shop", body);
        }
        for body in gone {
            world = world.candidate(member("shop", body.clone()));
        }
        world.guards.prune_budget = PruneBudget { count, percent };
        let refusals = world.plan().refusals;
        match want {
            None => assert!(refusals.is_empty(), "{refusals:?}"),
            Some(want) => {
                assert_eq!(refusals.len(), 1, "{refusals:?}");
                assert_eq!(refusals[0].guard, "prune-budget");
                assert!(refusals[0].message.contains(want), "{refusals:?}");
            }
        }
    };
    check(8, 3, 3, 20, None);
    check(8, 4, 3, 100, Some("4 objects would be deleted; the budget is 3"));
    check(10, 2, 10, 20, None);
    check(10, 3, 10, 20, Some("3 of 10 objects would be deleted; the budget is 20 %"));
    check(9, 8, 10, 20, None);
    check(1, 0, 0, 0, None);
}

/// kubernetes issue 40635.
#[test]
fn a_unit_that_became_empty_is_refused() {
    let gone = config("gone", &json!({}));
    let world = World::new().unit("shop", &[]).set("shop", &[&gone]).candidate(member("shop", gone));
    world.check(4, &[&["prune"], &["refused empty-unit", "`shop`", "1 objects"]]);
    World::new().unit("shop", &[]).set("shop", &[]).check(0, &[]);
}

#[test]
fn a_unit_that_is_gone_needs_a_permission() {
    let (stays, gone) = (config("stays", &json!({})), config("gone", &json!({})));
    let world = || {
        World::new()
            .unit("shop", std::slice::from_ref(&stays))
            .settled("shop", &stays)
            .set("old", &[&gone])
            .candidate(member("old", gone.clone()))
    };
    world().check(4, &[&["no-op"], &["prune", "in old"], &["refused unit-gone", "`old`"]]);
    world().allow("Unit", None, "old", "2026-06-30").check(0, &[&["no-op"], &["prune"]]);
    world()
        .allow("Unit", None, "old", "2026-06-01")
        .check(4, &[&["no-op"], &["prune"], &["refused unit-gone", "ended on 2026-06-01"]]);
    // A unit that was only renamed takes its objects along.
    World::new()
        .unit("new", std::slice::from_ref(&stays))
        .answered(&stays, Some(member("old", stays.clone())), member("new", stays.clone()))
        .set("old", &[&stays])
        .check(0, &[&["update", "moves here"]]);
}

/// cli-utils issue 274: only `namespace.yaml` was removed.
#[test]
fn a_namespace_with_something_in_it_is_not_deleted() {
    let namespace = named("v1", "Namespace", None, "shop");
    leaving(std::slice::from_ref(&namespace)).allow("Namespace", None, "shop", "2026-06-30").check(
        4,
        &[
            &["no-op"],
            &["prune namespace", "[data]", "loss: everything in the namespace `shop`"],
            &["refused namespace-in-use", "ConfigMap shop/stays"],
        ],
    );
    let other = named("v1", "Namespace", None, "other");
    leaving(&[other]).allow("Namespace", None, "other", "2026-06-30").check(0, &[&["no-op"], &["prune"]]);
    let kept = member("shop", named("v1", "ConfigMap", Some("other"), "kept"));
    let other = named("v1", "Namespace", None, "other");
    leaving(&[other]).allow("Namespace", None, "other", "2026-06-30").candidate(kept).check(
        4,
        &[&["no-op"], &["keep configmap"], &["prune namespace"], &["refused namespace-in-use", "other/kept"]],
    );
}

/// A permission for a namespace took along what another environment and a person kept in it.
#[test]
fn a_namespace_takes_nothing_along_that_was_not_permitted() {
    let other = named("v1", "Namespace", None, "other");
    let secret = object(named("v1", "Secret", Some("other"), "precious"));
    let world = |residents: Result<BTreeSet<ObjectRef>, String>| {
        let mut world = leaving(std::slice::from_ref(&other)).allow("Namespace", None, "other", "2026-06-30");
        world.observation.residents.insert("other".into(), residents);
        world
    };
    let inside = || Ok(BTreeSet::from([secret.reference().clone()]));
    world(Ok(BTreeSet::new())).check(0, &[&["no-op"], &["prune"]]);
    let refused = ["refused namespace-in-use", "Secret other/precious"];
    world(inside()).check(4, &[&["no-op"], &["prune"], &refused]);
    world(Err("HTTP 403".into()))
        .check(4, &[&["no-op"], &["prune"], &["refused namespace-in-use", "HTTP 403"]]);
    world(inside())
        .allow("Secret", Some("other"), "precious", "2026-06-30")
        .check(0, &[&["no-op"], &["prune"]]);
}

/// What a namespace takes along is part of what is approved: one object more asks for another approval, one less for none.
#[test]
fn an_approval_of_a_namespace_covers_what_it_takes_along_and_nothing_that_came_later() {
    let other = named("v1", "Namespace", None, "other");
    let effects = |secrets: &[&str]| {
        let mut world = leaving(std::slice::from_ref(&other)).allow("Namespace", None, "other", "2026-06-30");
        let inside =
            secrets.iter().map(|name| object(named("v1", "Secret", Some("other"), name)).reference().clone());
        world.observation.residents.insert("other".into(), Ok(inside.collect()));
        for name in secrets {
            world = world.allow("Secret", Some("other"), name, "2026-06-30");
        }
        world.plan().effects()
    };
    let (none, one, two) = (effects(&[]), effects(&["a"]), effects(&["a", "b"]));
    let covers =
        |approved: &[Digest], planned: &[Digest]| planned.iter().all(|effect| approved.contains(effect));
    assert!(covers(&two, &one) && covers(&one, &none));
    assert!(!covers(&none, &one) && !covers(&one, &two));
}

/// The server deletes no namespace while an API service is down: it would hang half deleted, and what lives in it is
/// not known.
#[test]
fn a_namespace_is_not_deleted_while_an_api_service_does_not_answer() {
    let other = named("v1", "Namespace", None, "other");
    let mut world = leaving(&[other]).allow("Namespace", None, "other", "2026-06-30");
    world.observation.stale_groups.insert("metrics.k8s.io".into());
    world.check(4, &[&["no-op"], &["prune"], &["refused incomplete-list", "`other`", "metrics.k8s.io"]]);
}

#[test]
fn a_definition_with_objects_is_not_deleted() {
    let definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "foos.ex.io");
    let foo = named("ex.io/v1", "Foo", Some("shop"), "a");
    let world = |objects: Result<Vec<ObjectKey>, String>, gone: &[Value]| {
        let mut world = leaving(gone)
            .allow("CustomResourceDefinition.apiextensions.k8s.io", None, "foos.ex.io", "2026-06-30")
            .allow("Foo.ex.io", Some("shop"), "a", "2026-06-30");
        world.observation.definitions.insert(
            ObjectKey::from(object(definition.clone()).reference()),
            Definition { kind: GroupKind::new("ex.io", "Foo"), objects },
        );
        world
    };
    let key = ObjectKey::from(object(foo.clone()).reference());
    let alone = std::slice::from_ref(&definition);
    world(Ok(vec![]), alone).check(0, &[&["no-op"], &["prune"]]);
    world(Ok(vec![key.clone()]), alone)
        .check(4, &[&["no-op"], &["prune"], &["refused definition-in-use", "Foo.ex.io shop/a"]]);
    world(Err("timeout".into()), alone)
        .check(4, &[&["no-op"], &["prune"], &["refused definition-in-use", "timeout"]]);
    world(Ok(vec![key]), &[definition.clone(), foo])
        .check(0, &[&["no-op"], &["prune foo"], &["prune custom"]]);
}

/// kapp issue 12: a broken API service that holds nothing of ours stops nothing; one that may hide a
/// deletion does.
#[test]
fn an_incomplete_list_is_refused_where_it_could_hide_a_deletion() {
    let foo = named("ex.io/v1", "Foo", Some("shop"), "a");
    let mut world = leaving(&[]);
    world.observation.stale_groups.insert("metrics.k8s.io".into());
    world.observation.unlisted.insert(GroupKind::new("", "ConfigMap"), "HTTP 403".into());
    world.check(0, &[&["no-op"]]);
    let warnings = world.plan().warnings;
    assert!(warnings.iter().any(|text| text.contains("metrics.k8s.io")), "{warnings:?}");
    assert!(warnings.iter().any(|text| text.contains("`ConfigMap` could not be listed")), "{warnings:?}");
    let stays = config("stays", &json!({}));
    let mut world = World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &foo]);
    // The definition is gone, and with it the object.
    world.check(0, &[&["no-op"]]);
    world.observation.unlisted.insert(GroupKind::new("ex.io", "Foo"), "the group does not answer".into());
    world.check(4, &[&["no-op"], &["refused incomplete-list", "`Foo.ex.io`", "a.shop"]]);
    assert_eq!(world.plan().warnings, Vec::<String>::new());
}

#[test]
fn a_foreign_parent_is_refused() {
    let mut world = leaving(&[]);
    world
        .observation
        .unreadable
        .push(UnreadableParent { message: "managed by kubectl".into(), hint: "hand it over".into() });
    world.check(4, &[&["no-op"], &["refused foreign-set", "managed by kubectl"]]);
}

/// Without the parent nobody knows what was delivered before.
#[test]
fn a_deleted_parent_is_told() {
    let desired = config("a", &json!({"k": "v"}));
    let world = || World::new().unit("shop", std::slice::from_ref(&desired)).settled("shop", &desired);
    let told = |world: World| world.plan().warnings.iter().any(|text| text.contains("somebody deleted"));
    assert!(told(world()));
    assert!(!told(world().set("shop", &[&desired])), "the parent is there");
    let first =
        World::new().unit("shop", std::slice::from_ref(&desired)).answered(&desired, None, desired.clone());
    assert!(!told(first), "a first delivery");
}

/// Rules that loosen come from the agent: what the commit says counts as far as the environment file lets it.
#[test]
fn a_commit_can_mean_a_deletion_where_the_environment_file_lets_it() {
    use PermissionSource::{Both, Commit, Environment};
    let claim = named("v1", "PersistentVolumeClaim", Some("shop"), "data-db-0");
    let (kind, day) = ("PersistentVolumeClaim", "2026-06-30");
    let world = |source| {
        let mut world = leaving(std::slice::from_ref(&claim));
        world.guards.deletion_permissions = source;
        world
    };
    let meant = |world: World| world.mean(kind, Some("shop"), "data-db-0", day);
    let allowed = |world: World| world.allow(kind, Some("shop"), "data-db-0", day);
    let rollback = |world: World| World { rollback: true, ..world };
    let check = |world: World, want: Option<&str>| {
        let refusals = world.plan().refusals;
        assert_eq!(refusals.len(), usize::from(want.is_some()), "{refusals:?}");
        if let (Some(refusal), Some(want)) = (refusals.first(), want) {
            assert!(refusal.message.contains(want) || refusal.hint.contains(want), "{refusal:?}");
        }
    };
    check(meant(world(Environment)), Some("which does not count here"));
    check(allowed(world(Environment)), None);
    check(meant(world(Commit)), None);
    check(allowed(world(Commit)), None);
    check(world(Commit), Some("in the windlass.yaml of the commit that removes it, or"));
    check(meant(world(Both)), Some("the environment file does not allow it"));
    check(allowed(world(Both)), Some("the commit does not mean it"));
    check(allowed(meant(world(Both))), None);
    // The older commit cannot name what came after it.
    check(rollback(allowed(world(Both))), None);
    check(rollback(meant(world(Both))), Some("which does not count here"));
    // What it meant was an earlier object, of which there may be another one by now.
    check(rollback(meant(world(Commit))), Some("which does not count here"));
    check(rollback(allowed(world(Commit))), None);
}

#[test]
fn what_a_commit_means_to_delete_and_delivers_or_has_deleted_long_ago_is_warned_of() {
    let check = |source, name: &str, until: &str, want: &[&str]| {
        let mut world = leaving(&[]).mean("ConfigMap", Some("shop"), name, until);
        world.guards.deletion_permissions = source;
        let warnings = world.plan().warnings;
        let start = "`deletions` in windlass.yaml: the entry for ConfigMap shop/";
        assert_eq!(warnings, want.iter().map(|want| format!("{start}{want}; remove it")).collect::<Vec<_>>());
    };
    let commit = PermissionSource::Commit;
    check(commit, "gone", "2026-06-30", &[]);
    check(commit, "gone", "2026-06-14", &["gone ended on 2026-06-14"]);
    check(commit, "stays", "2026-06-30", &["stays names what this commit delivers"]);
    check(PermissionSource::Environment, "gone", "2026-06-14", &[]);
}
