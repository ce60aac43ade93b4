//! What the server says to the pods of changed workloads.

use serde_json::{Value, json};
use windlass_plan::{Ask, ObjectKey, Outcome, PodAnswer, Reply, Trial};
use windlass_settings::PodPolicyRule;

use crate::world::{World, failure, live, member, named, object};

const DENIED: &str = "pods \"web-preview-wndls\" is forbidden: ValidatingAdmissionPolicy 'no-root' with binding 'b' denied request: no";

fn deployment(image: &str, replicas: u64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}}})
}

fn refused(message: &str, asks_for_sender: bool) -> PodAnswer {
    let failure = failure(403, "Forbidden", message, &json!([]));
    PodAnswer::Refused { failure, asks_for_sender, everywhere: false }
}

/// A new Deployment, beside other objects of the commit, whose pod was answered like this.
fn created(desired: &Value, others: &[Value], answer: PodAnswer) -> World {
    let mut objects = vec![desired.clone()];
    objects.extend(others.iter().cloned());
    let mut world = World::new().unit("shop", &objects).answered(desired, None, live(desired.clone()));
    for other in others {
        world = world.answered(other, None, live(other.clone()));
    }
    world.observation.pods.insert(ObjectKey::from(object(desired.clone()).reference()), answer);
    world
}

#[test]
fn a_policy_that_denies_the_pods_refuses_the_plan_by_its_name() {
    let desired = deployment("a", 1);
    let refusal: &[&str] =
        &["refused pod-policy", "Deployment.apps shop/web", "ValidatingAdmissionPolicy 'no-root'"];
    created(&desired, &[], refused(DENIED, false)).check(4, &[&["create deployment"], refusal]);
    let security = "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot";
    created(&desired, &[], refused(security, false))
        .check(4, &[&["create deployment"], &["refused pod-policy", "PodSecurity"]]);
    let admitted = PodAnswer::Admitted { warnings: vec!["old field".to_owned()] };
    created(&desired, &[], admitted).check(0, &[&["create deployment", "warning its pods: old field"]]);
}

/// Each of these was a delivery that a wrong alarm would have stopped.
#[test]
fn an_answer_that_is_not_final_only_warns() {
    let warned = |world: World, because: &str| {
        world.check(0, &[&["deployment", "warning its pods would be refused", "no-root", because]]);
    };
    let desired = deployment("a", 1);
    warned(created(&deployment("a", 0), &[], refused(DENIED, false)), "makes no new pods now");
    warned(created(&desired, &[], refused(DENIED, true)), "asks who sends a pod");
    let mut lenient = created(&desired, &[], refused(DENIED, false));
    lenient.guards.pod_policy = PodPolicyRule::Warn;
    warned(lenient, "podPolicy: warn");
    let policy = named("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", None, "no-root");
    created(&desired, &[policy], refused(DENIED, false)).check(
        0,
        &[
            &["create deployment", "warning its pods would be refused", "changes policies"],
            &["create validating"],
        ],
    );
    let namespace = named("v1", "Namespace", None, "shop");
    created(&desired, std::slice::from_ref(&namespace), refused(DENIED, false)).check(
        0,
        &[
            &["create namespace"],
            &["create deployment", "warning its pods would be refused", "changes policies"],
        ],
    );
    // An unchanged namespace changes no rule.
    let mut settled = created(&desired, std::slice::from_ref(&namespace), refused(DENIED, false));
    settled = settled.settled("shop", &namespace);
    settled.check(4, &[&["no-op namespace"], &["create deployment"], &["refused pod-policy"]]);
}

#[test]
fn what_the_pods_lack_is_told() {
    let desired = deployment("a", 1);
    let quota =
        "pods \"x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2";
    created(&desired, &[], refused(quota, false))
        .check(0, &[&["create", "warning there is no room", "exceeded quota"]]);
    let right = "pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\" in the namespace \"shop\"";
    created(&desired, &[], refused(right, false))
        .check(0, &[&["create", "note: its pods were not previewed: the identity may not create pods"]]);
    let account = "pods \"x\" is forbidden: error looking up service account shop/web: serviceaccount \"web\" not found";
    created(&desired, &[], refused(account, false)).check(
        0,
        &[&["create", "warning no pod of it can be created: the ServiceAccount `web` does not exist"]],
    );
    let comes = named("v1", "ServiceAccount", Some("shop"), "web");
    created(&desired, &[comes], refused(account, false)).check(
        0,
        &[
            &["create serviceaccount"],
            &[
                "create deployment",
                "note: its pods were not previewed: the ServiceAccount `web` comes with the same commit",
            ],
        ],
    );
    created(&desired, &[], PodAnswer::Failed("timeout".into()))
        .check(0, &[&["create", "note: its pods were not previewed: timeout"]]);
}

/// On a first delivery the ServiceAccount comes with its workload, and no pod was tried out at all.
#[test]
fn pods_are_judged_without_what_comes_with_the_commit() {
    let desired = deployment("a", 1);
    let account = named("v1", "ServiceAccount", Some("shop"), "web");
    let without = |asks_for_it: bool, answer: PodAnswer| PodAnswer::Without {
        missing: vec![("ServiceAccount", "web".to_owned())],
        asks_for_it,
        answer: Box::new(answer),
    };
    let check = |answer: PodAnswer, exit: u8, want: &[&[&str]]| {
        let first: &[&[&str]] = &[&["create serviceaccount"]];
        created(&desired, std::slice::from_ref(&account), answer).check(exit, &[first, want].concat());
    };
    let told = "tried out without the ServiceAccount `web`, which comes with the same commit";
    let admitted = || PodAnswer::Admitted { warnings: vec!["old field".to_owned()] };
    check(without(false, admitted()), 0, &[&["create deployment", told, "warning its pods: old field"]]);
    let refusal: &[&str] = &["refused pod-policy", "no-root"];
    check(without(false, refused(DENIED, false)), 4, &[&["create deployment", told], refusal]);
    let doubt: &[&str] =
        &["create deployment", "would be refused", "tried out without the ServiceAccount `web`"];
    check(without(true, refused(DENIED, false)), 0, &[doubt]);
    // What nobody delivers is all there is to say.
    let never = "warning no pod of it can be created: the ServiceAccount `web` does not exist";
    created(&desired, &[], without(false, refused(DENIED, false))).check(0, &[&["create deployment", never]]);
}

/// An answer about a template that does not change is about pods that run already.
#[test]
fn pods_of_an_unchanged_template_are_not_judged() {
    let (old, new) = (deployment("a", 1), deployment("b", 1));
    let judged = |desired: &Value, exit: u8, want: &[&[&str]]| {
        let mut world = World::new().unit("shop", std::slice::from_ref(desired)).answered(
            desired,
            Some(member("shop", old.clone())),
            member("shop", desired.clone()),
        );
        let key = ObjectKey::from(object(desired.clone()).reference());
        world.observation.pods.insert(key, refused(DENIED, false));
        world.check(exit, want);
    };
    judged(&old, 0, &[&["no-op"]]);
    judged(&new, 4, &[&["update", "because of: image of web"], &["refused pod-policy"]]);
    judged(&deployment("a", 2), 0, &[&["update", "spec.replicas"]]);
}

/// What the stand-in namespace says of itself stops nothing.
#[test]
fn pods_tried_out_in_a_stand_in_namespace() {
    let check = |answer: PodAnswer, others: &[Value], exit: u8, want: &[&[&str]]| {
        let (desired, namespace) = (deployment("a", 1), named("v1", "Namespace", None, "shop"));
        let reply = Reply { object: object(live(desired.clone())), warnings: Vec::new() };
        let trial = Trial::Made { stand_in: "spare".into(), outcome: Outcome::Accepted(reply) };
        let objects = [&[namespace.clone(), desired.clone()], others].concat();
        let mut world = World::new()
            .unit("shop", &objects)
            .answered(&namespace, None, live(namespace.clone()))
            .asked(None, &[], Ask::NamespaceMissing(trial), &desired);
        for other in others {
            world = world.answered(other, None, live(other.clone()));
        }
        world.observation.pods.insert(ObjectKey::from(object(desired).reference()), answer);
        let first: &[&[&str]] = &[&["create namespace"]];
        world.check(exit, &[first, want].concat());
    };
    let everywhere = |message: &str, asks_for_sender| {
        let failure = failure(403, "Forbidden", message, &json!([]));
        PodAnswer::Refused { failure, asks_for_sender, everywhere: true }
    };
    let created = "create deployment";
    check(everywhere(DENIED, false), &[], 4, &[&[created], &["refused pod-policy", "no-root"]]);
    check(
        everywhere(DENIED, true),
        &[],
        0,
        &[&[created, "its pods would be refused", "asks who sends a pod"]],
    );
    let policy = named("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", None, "no-root");
    let doubt: &[&str] = &[created, "its pods would be refused", "the same commit changes policies"];
    check(everywhere(DENIED, false), &[policy], 0, &[doubt, &["create validating"]]);
    let told =
        "warning in `spare` its pods would be refused, which may or may not hold in their own namespace: ";
    check(refused(DENIED, false), &[], 0, &[&[created, told, "no-root"]]);
    let security = "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot";
    check(
        refused(security, false),
        &[],
        0,
        &[&[created, "note: its pods were not previewed: the PodSecurity labels of `spare`"]],
    );
    let quota =
        "pods \"x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2";
    check(refused(quota, false), &[], 0, &[&[created, "not previewed: the quota of `spare` has no room"]]);
    let right = "pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\" in the namespace \"spare\"";
    check(refused(right, false), &[], 0, &[&[created, "the identity may not create pods in `spare`"]]);
    let account = "pods \"x\" is forbidden: error looking up service account spare/default: serviceaccount \"default\" not found";
    check(refused(account, false), &[], 0, &[&[created, "`spare` has no ServiceAccount `default`"]]);
    let warned = PodAnswer::Admitted { warnings: vec!["old field".to_owned()] };
    check(warned, &[], 0, &[&[created, "warning its pods, tried out in `spare`: old field"]]);
}
