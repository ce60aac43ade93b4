//! Policies that are not enforced.

use serde_json::json;
use windlass_e2e::{World, manifests, until};

/// A world that expects the policy of [`manifests::policy`].
fn expecting() -> (World, String) {
    let mut world = World::new();
    let name = format!("canary-{}", world.suffix);
    for kind in ["validatingadmissionpolicy", "validatingadmissionpolicybinding"] {
        world.owns(&format!("{kind}/{name}"));
    }
    let refuses =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}});
    let policy = json!({"name": name, "binding": name, "refuses": refuses});
    world.configure(|settings| settings["policies"] = json!({"validatingAdmissionPolicies": [policy]}));
    world.commit(&world.small());
    (world, name)
}

#[track_caller]
fn assert_refused(world: &World, says: &[&str]) {
    for command in ["gate", "plan", "run"] {
        world.windlass(&[command]).refuses(4, says);
    }
    super::assert_untouched(world);
}

#[test]
fn a_policy_that_is_missing() {
    let (world, name) = expecting();
    assert_refused(&world, &[&name]);
}

#[test]
fn a_policy_that_only_audits() {
    let (world, name) = expecting();
    world.kubectl.apply(&manifests::policy(&name, "Audit"));
    assert_refused(&world, &[&name, "Audit"]);
}

#[test]
fn a_policy_that_is_enforced_lets_deliveries_through() {
    let (world, name) = expecting();
    world.kubectl.apply(&manifests::policy(&name, "Deny"));
    until(15, "the policy acts", || {
        let arguments = ["create", "configmap", &name, "-n", "default", "--dry-run=server"];
        (!world.kubectl.attempt(&arguments, "").status.success()).then_some(())
    });
    world.windlass(&["gate"]).ok().says(&name);
    world.windlass(&["run"]).ok();
    // Weakened afterwards: nothing is delivered any more, and drift says so.
    world.kubectl.apply(&manifests::policy(&name, "Warn"));
    until(15, "the policy is weak", || {
        let arguments = ["create", "configmap", &name, "-n", "default", "--dry-run=server"];
        world.kubectl.attempt(&arguments, "").status.success().then_some(())
    });
    world.windlass(&["run"]).refuses(4, &[&name]);
    world.windlass(&["drift"]).refuses(4, &[&name]);
}

#[test]
fn a_constraint_that_is_missing() {
    let mut world = World::new();
    let refuses = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "canary"}});
    let constraint = json!({"kind": "K8sRequiredLabels", "name": "owner-label", "refuses": refuses});
    world.configure(|settings| settings["policies"] = json!({"gatekeeper": {"constraints": [constraint]}}));
    world.commit(&world.small());
    assert_refused(&world, &["owner-label"]);
}

/// The workload itself was accepted, and the delivery failed much later, in the rollout.
#[test]
fn a_policy_that_would_deny_the_pods() {
    let world = World::new();
    let namespace = world.namespace("app");
    let db =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let files = world.small().with("app/db.yaml", manifests::stateful_set(&db));
    world.deliver(&files);
    world.kubectl.run(&["label", "namespace", &namespace, "pod-security.kubernetes.io/enforce=restricted"]);
    world.windlass(&["plan"]).ok();
    world.commit(&files.replace("app/db.yaml", "db:1", "db:2"));
    world.windlass(&["run"]).refuses(4, &["pod-policy", "PodSecurity", "db"]);
    let image =
        world.kubectl.field("statefulset", &namespace, "db", "/spec/template/spec/containers/0/image");
    assert!(image.to_string().contains("db:1"), "{image}");
}
