//! Webhooks and what answers for them.

use serde_json::{Value, json};
use windlass_plan::ObjectKey;

use crate::world::{World, live, named, object};

fn webhook() -> Value {
    let mut body = named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", None, "judge");
    body["webhooks"] = json!([{"clientConfig": {"service": {"namespace": "shop", "name": "hook"}}}]);
    body
}

fn service() -> Value {
    let mut body = named("v1", "Service", Some("shop"), "hook");
    body["spec"] = json!({"selector": {"app": "hook"}});
    body
}

fn workload(app: &str) -> Value {
    let mut body = named("apps/v1", "Deployment", Some("shop"), app);
    body["spec"] = json!({"template": {"metadata": {"labels": {"app": app, "tier": "x"}}}});
    body
}

/// Two units, of which every object is new except what is `there`.
fn world(units: [&[&Value]; 2], there: &[&Value]) -> World {
    let mut world = World::new();
    for (name, objects) in ["one", "two"].iter().zip(units) {
        let bodies: Vec<Value> = objects.iter().map(|body| (*body).clone()).collect();
        world = world.unit(name, &bodies);
        for body in bodies {
            let before = there.contains(&&body).then(|| live(body.clone()));
            world = world.answered(&body, before, live(body.clone()));
        }
    }
    world
}

fn check(units: [&[&Value]; 2], there: &[&Value], want: Option<&str>) {
    let refusals = world(units, there).plan().refusals;
    let told: Vec<(&str, &str)> =
        refusals.iter().map(|refusal| (refusal.guard.as_str(), refusal.message.as_str())).collect();
    match want {
        None => assert!(told.is_empty(), "{told:?}"),
        Some(want) => assert!(
            matches!(told.as_slice(), [("webhook-backend", message)] if message.contains(want)),
            "{told:?}"
        ),
    }
}

/// It was waited for as long as a rollout may take, and could never come.
#[test]
fn a_webhook_before_the_unit_of_its_service() {
    let (webhook, service) = (&webhook(), &service());
    let late = Some("Service shop/hook comes with the later unit `two`");
    check([&[webhook], &[service]], &[], late);
    check([&[webhook], &[service]], &[service], None);
    check([&[webhook, service], &[]], &[], None);
    check([&[service], &[webhook]], &[], None);
    // A webhook that stays as it is is not written, and waits for nobody.
    check([&[webhook], &[service]], &[webhook], None);
}

#[test]
fn a_webhook_before_the_unit_of_the_pods_of_its_service() {
    let (webhook, service, pods, others) = (&webhook(), &service(), &workload("hook"), &workload("other"));
    let late = Some("Deployment.apps shop/hook comes with the later unit `two`");
    check([&[webhook, service], &[pods]], &[], late);
    check([&[webhook, service], &[pods]], &[pods], None);
    check([&[webhook, service], &[others]], &[], None);
    check([&[webhook, service, pods], &[]], &[], None);
}

#[test]
fn a_webhook_whose_service_nobody_delivers_is_told() {
    let mut world = world([&[&webhook()], &[]], &[]);
    assert_eq!(world.plan().warnings, [""; 0]);
    world.observation.absent_backends = [ObjectKey::from(object(service()).reference())].into();
    let warnings = world.plan().warnings;
    assert!(
        warnings.len() == 1 && warnings[0].contains("calls Service shop/hook, which does not exist"),
        "{warnings:?}"
    );
}
