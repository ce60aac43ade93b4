//! One object, one verdict.

use serde_json::{Value, json};
use windlass_plan::{Ask, Reply};

use crate::world::{PART_OF, World, config, conflict, failure, live, member, named, object, set};

fn reply(body: Value) -> Ask {
    Ask::Answered(Reply { object: object(body), warnings: vec!["v1beta1 is deprecated".into()] })
}

#[test]
fn create_update_and_no_op() {
    let (one, two, three) =
        (config("a", &json!({"k": "1"})), config("b", &json!({"k": "2"})), config("c", &json!({})));
    World::new()
        .unit("shop", &[one.clone(), two.clone(), three.clone()])
        .answered(&one, None, live(one.clone()))
        .answered(&two, Some(member("shop", config("b", &json!({"k": "1"})))), member("shop", two.clone()))
        .settled("shop", &three)
        .check(
            0,
            &[
                &["create configmap shop/a in shop [routine] [server]"],
                &["update configmap shop/b in shop [routine] [server]; Changed data.k"],
                &["no-op configmap shop/c in shop [none]"],
            ],
        );
}

#[test]
fn creations_name_what_is_sent_unless_it_is_a_secret() {
    let secret = named("v1", "Secret", Some("shop"), "s");
    let config = config("a", &json!({}));
    let plan = World::new()
        .unit("shop", &[secret.clone(), config.clone()])
        .answered(&secret, None, live(secret.clone()))
        .answered(&config, None, live(config.clone()))
        .plan();
    let digests: Vec<bool> = plan.actions.iter().map(|action| action.desired.is_some()).collect();
    assert_eq!(digests, [false, true]);
}

/// kubectl issues 1242 and 1267.
#[test]
fn what_the_server_keeps_is_no_change() {
    let desired = config("a", &json!({}));
    let mut answer = member("shop", desired.clone());
    answer["metadata"]["generation"] = 2.into();
    answer["metadata"]["managedFields"][0]["time"] = "2026-06-15T00:00:00Z".into();
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(member("shop", desired.clone())), answer)
        .check(0, &[&["no-op"]]);
}

#[test]
fn adoption_is_visible_with_or_without_changes() {
    let desired = config("a", &json!({"k": "1"}));
    let other = config("a", &json!({"k": "0"}));
    for (was, want) in [
        (live(desired.clone()), "adopt configmap shop/a in shop [routine] [server]"),
        (live(other), "[server]; Changed data.k"),
    ] {
        World::new()
            .unit("shop", std::slice::from_ref(&desired))
            .answered(&desired, Some(was), member("shop", desired.clone()))
            .check(0, &[&["adopt", want]]);
    }
}

#[test]
fn a_label_without_an_apply_entry_is_adopted_not_kept() {
    let desired = config("a", &json!({}));
    let mut was = member("shop", desired.clone());
    was["metadata"]["managedFields"] = json!([]);
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(was), member("shop", desired.clone()))
        .check(0, &[&["adopt"]]);
}

#[test]
fn a_change_of_ownership_alone_is_an_update() {
    let desired = config("a", &json!({}));
    let mut answer = member("shop", desired.clone());
    answer["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] = json!({"f:labels": {}});
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(member("shop", desired.clone())), answer)
        .check(0, &[&["update", "note: ownership only"]]);
}

#[test]
fn without_an_environment_labels_do_not_count() {
    let desired = config("a", &json!({}));
    let mut was = member("shop", desired.clone());
    was["metadata"]["labels"] = json!({});
    let mut world =
        World::new().unit("shop", std::slice::from_ref(&desired)).answered(&desired, Some(was.clone()), was);
    world.environment = None;
    world.check(0, &[&["no-op"]]);
}

#[test]
fn an_object_moves_between_units() {
    let desired = config("a", &json!({}));
    World::new()
        .unit("new", std::slice::from_ref(&desired))
        .unit("old", &[named("v1", "ConfigMap", Some("shop"), "rest")])
        .settled("old", &named("v1", "ConfigMap", Some("shop"), "rest"))
        .answered(&desired, Some(member("old", desired.clone())), member("new", desired.clone()))
        .check(0, &[&["update", "in new", "note: moves here from the unit `old`"], &["no-op"]]);
}

/// kubectl re-labels silently (enhancements PR 3919).
#[test]
fn an_object_of_another_set_is_refused_and_both_parents_are_named() {
    let desired = config("a", &json!({}));
    let mut was = member("shop", desired.clone());
    was["metadata"]["labels"][PART_OF] = "applyset-x-v1".into();
    let mut world = World::new().unit("shop", std::slice::from_ref(&desired)).answered(
        &desired,
        Some(was),
        member("shop", desired.clone()),
    );
    world.check(4, &[&["adopt"], &["refused two-owners", "applyset-x-v1", "windlass.prd.shop"]]);
    world.observation.foreign_parents.insert("applyset-x-v1".into(), "Secret shop/theirs".into());
    world.check(4, &[&["adopt"], &["refused two-owners", "Secret shop/theirs", "windlass.prd.shop"]]);
}

#[test]
fn two_units_may_not_hold_one_object() {
    let desired = config("a", &json!({}));
    World::new()
        .unit("one", std::slice::from_ref(&desired))
        .unit("two", std::slice::from_ref(&desired))
        .settled("one", &desired)
        .check(4, &[&["no-op"], &["no-op"], &["refused two-owners", "`one` and `two`"]]);
}

fn scaled(replicas: u64) -> Value {
    let mut body = named("apps/v1", "Deployment", Some("shop"), "web");
    body["spec"] = json!({"replicas": replicas});
    body
}

fn with_scaler(mut body: Value, manager: &str) -> Value {
    let entry = json!({"manager": manager, "operation": "Update", "subresource": "scale",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}});
    body["metadata"]["managedFields"]
        .as_array_mut()
        .map(|entries| entries.push(entry.clone()))
        .unwrap_or_else(|| {
            body["metadata"]["managedFields"] = json!([entry]);
        });
    body
}

/// kubernetes issue 25238: apply and an autoscaler must not undo each other for ever.
#[test]
fn conflicts_are_taken_from_people_and_left_to_controllers() {
    let (desired, was) = (scaled(2), scaled(5));
    let check = |was: Value, manager: &str, exit, want: &[&str]| {
        World::new()
            .unit("shop", std::slice::from_ref(&desired))
            .asked(
                Some(was),
                &[conflict("spec.replicas", manager)],
                reply(member("shop", desired.clone())),
                &desired,
            )
            .check(exit, &[want]);
    };
    let ours = member("shop", was.clone());
    let theirs = live(was);
    check(
        ours.clone(),
        "kubectl-edit",
        0,
        &["update", "takes spec.replicas from kubectl-edit", "deprecated"],
    );
    check(
        ours.clone(),
        "keda-operator",
        4,
        &["update", "problem field conflict: spec.replicas is owned by keda-operator"],
    );
    check(
        with_scaler(ours.clone(), "kube-controller-manager"),
        "kube-controller-manager",
        4,
        &["problem field conflict"],
    );
    check(with_scaler(ours, "kubectl"), "kubectl", 0, &["takes spec.replicas from kubectl"]);
    check(theirs.clone(), "helm", 0, &["adopt", "takes spec.replicas from helm"]);
    check(theirs.clone(), "some-operator", 4, &["adopt", "problem field conflict"]);
    check(
        with_scaler(theirs, "kube-controller-manager"),
        "kube-controller-manager",
        4,
        &["adopt", "problem field conflict"],
    );
}

/// kubernetes issues 118325 and 122246.
#[test]
fn an_immutable_field_is_named_and_never_got_round() {
    let body = |service: &str| {
        let mut body = named("apps/v1", "StatefulSet", Some("shop"), "db");
        body["spec"] = json!({"serviceName": service, "replicas": 1});
        body
    };
    let causes = json!([{"reason": "FieldValueForbidden", "field": "spec",
        "message": "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"}]);
    let other = config("a", &json!({}));
    World::new()
        .unit("shop", &[body("new"), other.clone()])
        .refused(&body("new"), Some(member("shop", body("old"))), failure(422, "Invalid", "x", &causes))
        .answered(&other, None, live(other.clone()))
        .check(
            4,
            &[
                &["create configmap"],
                &["recreate statefulset.apps shop/db in shop [data]", "problem immutable: spec.serviceName"],
            ],
        );
}

/// Undoing the immutable change alone would only lead to the next refusal. Values of Secrets stay out.
#[test]
fn what_is_wrong_besides_an_immutable_field_is_told() {
    let causes = json!([
        {"reason": "FieldValueInvalid", "field": "type", "message": "Invalid value: \"b\": field is immutable"},
        {"reason": "FieldValueInvalid", "field": "data[x]", "message": "Invalid value: \"hunter2\": no"},
    ]);
    let check = |kind: &str, want: &str, field: &str| {
        let body = |value: &str| {
            let mut body = named("v1", kind, Some("shop"), "a");
            body["type"] = value.into();
            body
        };
        let refused = failure(422, "Invalid", "x", &causes);
        World::new()
            .unit("shop", &[body("b")])
            .refused(&body("b"), Some(member("shop", body("a"))), refused)
            .check(4, &[&["recreate", "problem immutable: type", want, field]]);
    };
    check("Secret", "besides, the server finds wrong: data[x]: ", "withheld");
    check("Sample", "besides, the server finds wrong: data[x]: ", "hunter2");
}

#[test]
fn refusals_of_the_server() {
    let desired = config("a", &json!({"k": "1"}));
    let none = json!([]);
    let check = |failure, exit, want: &[&str]| {
        World::new()
            .unit("shop", std::slice::from_ref(&desired))
            .refused(&desired, None, failure)
            .check(exit, &[want]);
    };
    let denied = "admission webhook \"gk\" denied the request: [no] bad";
    check(
        failure(403, "Forbidden", denied, &none),
        4,
        &["create", "[server]", "problem denied by policy", "[no] bad"],
    );
    check(
        failure(403, "Forbidden", "User \"x\" cannot patch", &none),
        77,
        &["problem forbidden: User \"x\" cannot patch"],
    );
    check(
        failure(
            500,
            "",
            "failed to create typed patch object (a; v1): .x: field not declared in schema",
            &none,
        ),
        65,
        &["problem invalid: .x: field not declared in schema"],
    );
    check(
        failure(500, "InternalError", "failed calling webhook \"v\"", &none),
        4,
        &["[not: a webhook that must", "admission webhook `v` does not answer"],
    );
    // kuma issue 828: only the preview is impossible.
    check(
        failure(400, "BadRequest", "admission webhook \"v\" does not support dry run", &none),
        0,
        &["create", "[not: a webhook does not support dry-runs]"],
    );
    check(failure(403, "Forbidden", "exceeded quota: q", &none), 4, &["exceeded quota"]);
    check(
        failure(409, "Conflict", "object has been modified", &none),
        4,
        &["changes while it is being looked at"],
    );
}

#[test]
fn nothing_is_concluded_from_what_was_not_looked_at() {
    World::new()
        .unit("shop", &[config("a", &json!({}))])
        .check(4, &[&["[not: it was not looked at]", "problem"]]);
}

/// A change of an object that is going is accepted by the server, and lost.
#[test]
fn an_object_that_is_being_deleted_stops_the_plan() {
    let desired = config("a", &json!({}));
    let mut was = member("shop", desired.clone());
    was["metadata"]["deletionTimestamp"] = "2026-06-14T00:00:00Z".into();
    was["metadata"]["finalizers"] = json!(["example.com/hold"]);
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(was), member("shop", desired.clone()))
        .check(4, &[&["problem the live object is being deleted since 2026-06-14", "example.com/hold"]]);
}

#[test]
fn a_template_change_restarts_pods_and_dropped_fields_are_named() {
    let body = |image: &str| {
        let mut body = named("apps/v1", "StatefulSet", Some("shop"), "db");
        body["spec"] = json!({"replicas": 2, "template": {"image": image},
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}});
        body
    };
    let stored = |image: &str| {
        let mut body = member("shop", body(image));
        body["spec"]["updateStrategy"] = json!({});
        body
    };
    World::new().unit("shop", &[body("b")]).answered(&body("b"), Some(stored("a")), stored("b")).check(
        0,
        &[&[
            "update statefulset.apps shop/db in shop [restart]",
            "restart: one after the other: db-1, db-0",
            "warning spec.updateStrategy.rollingUpdate is declared, but the server does not store it",
        ]],
    );
}

/// Flux issue 414.
#[test]
fn adopting_a_custom_resource_may_restart_its_pods() {
    let desired = named("rabbitmq.com/v1beta1", "RabbitmqCluster", Some("shop"), "mq");
    World::new()
        .unit("shop", std::slice::from_ref(&desired))
        .answered(&desired, Some(live(desired.clone())), member("shop", desired.clone()))
        .check(0, &[&["adopt", "[restart]", "restart: possibly", PART_OF]]);
}

#[test]
fn secrets_are_masked_in_deltas() {
    let body = |value: &str| {
        let mut body = named("v1", "Secret", Some("shop"), "s");
        body["data"] = json!({"k": value});
        body
    };
    let world = World::new().unit("shop", &[body("bmV3")]).answered(
        &body("bmV3"),
        Some(member("shop", body("b2xk"))),
        member("shop", body("bmV3")),
    );
    world.check(0, &[&["update secret", "Changed data.k"]]);
    let json = world.plan().to_json().to_string();
    assert!(!json.contains("b2xk") && !json.contains("bmV3"), "{json}");
}

#[test]
fn actions_follow_the_units_and_in_a_unit_the_ranks() {
    let deployment = named("apps/v1", "Deployment", Some("shop"), "web");
    let namespace = named("v1", "Namespace", None, "shop");
    let first = config("z", &json!({}));
    let gone = config("gone", &json!({}));
    let removed = named("v1", "Service", Some("shop"), "removed");
    World::new()
        .unit("infra", std::slice::from_ref(&first))
        .unit("shop", &[deployment.clone(), namespace.clone()])
        .settled("infra", &first)
        .settled("shop", &deployment)
        .settled("shop", &namespace)
        .set("infra", &[&first, &gone])
        .set("shop", &[&deployment, &namespace, &removed])
        .candidate(member("infra", gone.clone()))
        .candidate(member("shop", removed))
        .check(
            0,
            &[
                &["no-op configmap shop/z"],
                &["no-op namespace shop"],
                &["no-op deployment.apps"],
                &["prune service shop/removed"],
                &["prune configmap shop/gone"],
            ],
        );
    assert_ne!(set("infra").id(), set("shop").id());
}

/// What cannot be previewed is foreseen locally, restarts included: the risk must not look smaller for it.
#[test]
fn a_restart_is_foreseen_without_a_preview() {
    let body = |image: &str| {
        let mut body = named("apps/v1", "StatefulSet", Some("shop"), "db");
        body["spec"] = json!({"replicas": 1, "template": {"image": image}});
        body
    };
    let failure = failure(400, "BadRequest", "admission webhook \"v\" does not support dry run", &json!([]));
    World::new()
        .unit("shop", &[body("b")])
        .refused(&body("b"), Some(member("shop", body("a"))), failure)
        .check(
            0,
            &[&[
                "update",
                "[restart] [not:",
                "Changed spec.template.image",
                "restart: one after the other: db-0",
            ]],
        );
}
