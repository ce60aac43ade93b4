//! Identities that only look: one that may read and nothing else, and one whose writes a policy refuses.

use serde_json::json;
use windlass_e2e::{Audit, Bed, Fate, Proxy, Request, Sight, World, manifests, until};

const READ_ONLY: &str = include_str!("../../../pipeline/rbac/optional/read-only.yaml");

/// Signs in as somebody new who is in these groups.
fn sign_in_with(world: &mut World, groups: &[&str]) {
    let name = format!("looker-{}", world.suffix);
    let kubeconfig = Bed::get().new_identity(&name, groups);
    world.configure(|settings| settings["cluster"]["kubeconfig"] = json!(kubeconfig));
}

/// Grants a group the roles of the identity that previews, without naming it in the policy that is its leash.
fn grant_without_leash(world: &World, group: &str) {
    for role in ["windlass-read", "windlass-deliver"] {
        let name = format!("{role}-{}", world.suffix);
        world.owns(&format!("clusterrolebinding/{name}"));
        let (role, group) = (format!("--clusterrole={role}"), format!("--group={group}"));
        world.kubectl.run(&["create", "clusterrolebinding", &name, &role, &group]);
    }
}

#[test]
fn drift_of_an_identity_that_may_only_read_sends_gets_and_nothing_else() {
    let mut world = World::new();
    world.kubectl.apply(READ_ONLY);
    let namespace = world.namespace("app");
    let other = manifests::config_map(&namespace, "other", &[("a", "b")]);
    world.deliver(&world.small().with("app/other.yaml", other));
    sign_in_with(&mut world, &["windlass:read-only"]);
    let user = format!("looker-{}", world.suffix);
    let mark = Audit::mark();
    world.windlass(&["drift", "--read-only"]).ok().says("no drift").says("not seen");
    world.kubectl.edit("configmap", &namespace, "settings", "s/blue/red/");
    world.kubectl.run(&["delete", "configmap", "other", "-n", &namespace]);
    let folder = world.path("drift");
    let drift = world.windlass(&["drift", "--read-only", "--out", folder.to_str().unwrap()]);
    drift.exits(2).says("colour").says("kubectl-edit").says("other").says("read-only");
    for file in ["drift.json", "drift.md", "drift.txt", "drift.html"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("colour") && text.contains("not seen"), "{file}: {text}");
    }
    let json = world.windlass(&["drift", "--read-only", "--output", "json"]).exits(2).json();
    assert_eq!(json["readOnly"], true, "{json:#}");
    // The user's name is in every line of the audit log that it caused.
    let requests = mark.requests(&user);
    let others: Vec<&Request> =
        requests.iter().filter(|request| !["get", "list"].contains(&request.verb.as_str())).collect();
    assert!(others.is_empty() && requests.len() > 10, "{others:?} of {}", requests.len());
    // The same identity can neither dry-run nor write.
    let asked = world.windlass(&["drift"]);
    assert!(![0, 2].contains(&asked.code) || asked.all().contains("forbidden"), "{asked}");
}

#[test]
fn the_leash_of_the_identity_that_previews_holds() {
    let mut world = World::new();
    world.commit(&world.small());
    for identity in ["windlass-plan", "windlass-drift"] {
        world.sign_in_as(identity);
        let doctor = world.windlass(&["doctor", "--expect-dry-run-only"]);
        doctor.ok().says("a real creation is refused").says("a real change is refused").never_says("problem");
    }
    until(10, "nothing is left behind, by other tests either", || probes(&world).is_empty().then_some(()));
}

#[test]
fn a_write_that_goes_through_is_told_and_taken_back() {
    let mut world = World::new();
    world.kubectl.apply(READ_ONLY);
    world.commit(&world.small());
    let group = format!("leashless:{}", world.suffix);
    grant_without_leash(&world, &group);
    sign_in_with(&mut world, &["windlass:viewers", &group]);
    let namespace = ["get", "namespace", "windlass-system", "-o", "jsonpath={.metadata.resourceVersion}"];
    let before = world.kubectl.run(&namespace);
    let doctor = world.windlass(&["doctor", "--expect-dry-run-only"]);
    doctor.exits(1).says("THE WRITE WENT THROUGH").says("it is deleted again").says("10-dry-run-only.yaml");
    assert_eq!(
        doctor.all().matches("THE WRITE WENT THROUGH").count() % 2,
        0,
        "both writes are told: {doctor}"
    );
    until(10, "the object is gone", || probes(&world).is_empty().then_some(()));
    assert_eq!(world.kubectl.run(&namespace), before, "the namespace was changed");
}

/// An answer that is lost is no refusal: the object is there.
#[test]
fn a_write_whose_answer_is_lost_is_looked_for_and_taken_back() {
    let mut world = World::new();
    world.commit(&world.small());
    let proxy = Proxy::start();
    proxy.stands_before(&mut world);
    proxy.decide(|sight: &Sight| {
        let creates = sight.method == "POST" && sight.writes() && sight.path.ends_with("/configmaps");
        if creates { Fate::AnswerLost } else { Fate::Passes }
    });
    let doctor = world.windlass(&["doctor", "--expect-dry-run-only"]);
    doctor.exits(1).says("this identity really created").says("it is deleted again");
    until(10, "the object is gone", || probes(&world).is_empty().then_some(()));
}

#[test]
fn a_refusal_for_want_of_a_right_proves_nothing_about_the_policy() {
    let mut world = World::new();
    world.kubectl.apply(READ_ONLY);
    world.commit(&world.small());
    sign_in_with(&mut world, &["windlass:read-only"]);
    let doctor = world.windlass(&["doctor", "--expect-dry-run-only"]);
    doctor.exits(1).says("nothing is known about the policy").never_says("WENT THROUGH");
}

/// Rights that lead out of the leash: over what holds it, or to another name.
const WAYS_OUT: [(&str, &str); 12] = [
    ("delete", "validatingadmissionpolicies.admissionregistration.k8s.io"),
    ("delete", "validatingadmissionpolicybindings.admissionregistration.k8s.io"),
    ("create", "mutatingadmissionpolicies.admissionregistration.k8s.io"),
    ("patch", "mutatingadmissionpolicybindings.admissionregistration.k8s.io"),
    ("update", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
    ("deletecollection", "mutatingwebhookconfigurations.admissionregistration.k8s.io"),
    ("impersonate", "userextras.authentication.k8s.io"),
    ("impersonate", "uids.authentication.k8s.io"),
    ("impersonate", "users"),
    ("impersonate", "groups"),
    ("impersonate", "serviceaccounts"),
    ("create", "serviceaccounts/token"),
];

#[test]
fn every_right_by_which_the_leash_can_be_taken_off_is_named() {
    let mut world = World::new();
    world.commit(&world.small());
    for (row, (verb, resource)) in WAYS_OUT.into_iter().enumerate() {
        let (group, name) =
            (format!("loose:{}-{row}", world.suffix), format!("loose-{}-{row}", world.suffix));
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}, "rules": [rule(verb, resource)]});
        let subject = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group});
        let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name}, "roleRef": reference, "subjects": [subject]});
        for (kind, body) in [("clusterrole", role), ("clusterrolebinding", binding)] {
            world.owns(&format!("{kind}/{name}"));
            world.kubectl.apply(&body.to_string());
        }
        let user = format!("loose-{}-{row}", world.suffix);
        let kubeconfig = Bed::get().new_identity(&user, &["windlass:drift", &group]);
        world.configure(|settings| settings["cluster"]["kubeconfig"] = json!(kubeconfig));
        let plain = resource.split_once('.').map_or(resource, |(plural, _)| plural);
        let doctor = world.windlass(&["doctor", "--expect-dry-run-only"]);
        doctor.exits(1).says(&format!("it may {verb} {plain}, and so escape")).never_says("WENT THROUGH");
        assert_eq!(doctor.stdout.matches("and so escape").count(), 1, "only this one: {doctor}");
    }
}

fn rule(verb: &str, resource: &str) -> serde_json::Value {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    json!({"verbs": [verb], "apiGroups": [group], "resources": [plural]})
}

/// Returns what doctor has left behind.
fn probes(world: &World) -> String {
    let listing = world.kubectl.run(&["get", "configmaps", "-n", "windlass-system", "-o", "name"]);
    listing.lines().filter(|line| line.contains("windlass-doctor-")).collect()
}
