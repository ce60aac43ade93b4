//! Freezes and rules of the environment file, judged over whole plans. They are made on 2026-06-15, a Monday.

use serde_json::{Value, json};
use windlass_plan::{freezes, rules};
use windlass_settings::{Freeze, Guards, PlanRule};

use crate::world::{World, config, member, named};

/// A plan that creates one ConfigMap.
fn creating() -> World {
    let body = config("settings", &json!({"colour": "blue"}));
    World::new().unit("shop", std::slice::from_ref(&body)).answered(&body, None, body.clone())
}

/// A plan that restarts the pods of so many StatefulSets, and of a Deployment.
fn restarting(sets: usize) -> World {
    let workload = |kind: &str, name: &str, image: &str| {
        let mut body = named("apps/v1", kind, Some("shop"), name);
        let labels = json!({"app": name});
        body["spec"] = json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": image}]}}});
        body
    };
    let names = (0..sets).map(|number| ("StatefulSet", format!("db{number}")));
    let names: Vec<(&str, String)> = names.chain([("Deployment", "web".to_owned())]).collect();
    let bodies = |image: &str| -> Vec<Value> {
        names.iter().map(|(kind, name)| workload(kind, name, image)).collect()
    };
    let (old, new) = (bodies("registry.example/a:1"), bodies("registry.example/a:2"));
    old.into_iter().zip(&new).fold(World::new().unit("shop", &new), |world, (old, new)| {
        world.answered(new, Some(member("shop", old)), member("shop", new.clone()))
    })
}

fn check_rule(deny: &str, want: Option<&str>) {
    check_rule_on(&creating(), deny, want);
}

fn check_rule_on(world: &World, deny: &str, want: Option<&str>) {
    let guards = Guards {
        rules: vec![PlanRule { name: "r".into(), deny: deny.into(), message: "not today".into() }],
        ..Guards::default()
    };
    let refusals = rules(&world.plan(), &guards);
    let messages: Vec<&str> = refusals.iter().map(|refusal| refusal.message.as_str()).collect();
    match want {
        None => assert!(messages.is_empty(), "{deny}: {messages:?}"),
        Some(want) => assert!(messages.len() == 1 && messages[0].contains(want), "{deny}: {messages:?}"),
    }
}

#[test]
fn rules_see_the_plan_and_the_time() {
    check_rule(
        "plan.actions.exists(a, a.operation == 'create' && a.object.kind == 'ConfigMap')",
        Some("r: not today"),
    );
    check_rule("plan.actions.exists(a, a.operation == 'prune')", None);
    check_rule("size(plan.actions) > 1", None);
    check_rule("plan.environment == 'prd' && plan.counts.byOperation.create == 1", Some("not today"));
    check_rule("now.getDayOfWeek() == 1", Some("not today"));
    check_rule("now.getDayOfWeek('Europe/Amsterdam') == 5", None);
    check_rule("now > timestamp('2026-06-15T11:59:00Z') && has(plan.rollback)", None);
}

/// Each group keeps its majority while it restarts pod by pod; two at once may both be short of members.
#[test]
fn no_more_than_one_quorum_group_restarts_in_a_run() {
    let rule = "size(plan.restarts.filter(r, r.object.kind == 'StatefulSet.apps')) > 1";
    for (sets, want) in [(0, None), (1, None), (2, Some("r: not today"))] {
        let world = restarting(sets);
        assert_eq!(world.plan().restarts().len(), sets + 1);
        check_rule_on(&world, rule, want);
    }
}

/// A rule that fails says nothing about the plan: what it forbids may be what the plan does.
#[test]
fn a_rule_that_cannot_be_computed_refuses() {
    for deny in [
        "plan.actions.exists(a, a.nothing == 'x')",
        "size(plan.actions)",
        "plan.nothing",
        "unknown == 1",
        "1 +",
    ] {
        check_rule(deny, Some("cannot be computed"));
    }
}

#[test]
fn a_freeze_stops_changes_only_and_may_spare_rollbacks() {
    let freeze = Freeze {
        name: "audit".into(),
        reason: "the auditors are here".into(),
        from: Some("2026-06-01".into()),
        until: Some("2026-06-30".into()),
        weekly: None,
        time_zone: "UTC".into(),
        allow_rollback: true,
    };
    let over = Freeze { until: Some("2026-06-14".into()), ..freeze.clone() };
    let strict = Freeze { allow_rollback: false, ..freeze.clone() };
    let body = config("settings", &json!({}));
    let idle = World::new().unit("shop", std::slice::from_ref(&body)).settled("shop", &body).plan();
    let changing = creating().plan();
    let mut rollback = changing.clone();
    rollback.rollback = Some("it is slow".into());
    for (plan, freeze, frozen) in [
        (&changing, &freeze, true),
        (&changing, &over, false),
        (&idle, &freeze, false),
        (&rollback, &freeze, false),
        (&rollback, &strict, true),
    ] {
        let guards = Guards { freezes: vec![freeze.clone()], ..Guards::default() };
        let refusals = freezes(plan, &guards);
        assert_eq!(refusals.len(), usize::from(frozen), "{freeze:?}");
        assert!(
            refusals.iter().all(|r| r.message.contains("2026-06-30 UTC: audit (the auditors")),
            "{refusals:?}"
        );
    }
}
