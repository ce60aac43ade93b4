//! Plans that a guard refuses.

use serde_json::json;
use windlass_e2e::{Files, World, manifests};

/// Delivers files, takes one away again and expects a refusal that names the object.
#[track_caller]
fn refused_deletion(world: &World, files: &Files, path: &str, kind: &str, name: &str) {
    let namespace = world.namespace("app");
    world.deliver(files);
    world.commit(&files.clone().without(path));
    world.windlass(&["plan"]).refuses(4, &[name]);
    world.windlass(&["run"]).refuses(4, &[name]);
    assert!(world.kubectl.exists(kind, &namespace, name), "{kind} {name} was deleted");
}

#[test]
fn deleting_a_claim() {
    let mut world = World::new();
    // The lists of `pipeline/rbac` hold no claims: a StatefulSet makes them.
    world
        .configure(|settings| settings["cluster"]["kubeconfig"] = json!(windlass_e2e::Bed::get().kubeconfig));
    let files = world.small().with("app/data.yaml", manifests::claim(&world.namespace("app"), "data"));
    refused_deletion(&world, &files, "app/data.yaml", "persistentvolumeclaim", "data");

    let permission = json!([{
        "kind": "PersistentVolumeClaim", "namespace": world.namespace("app"), "name": "data",
        "until": "2099-12-31", "reason": "a test",
    }]);
    world.configure(|settings| settings["guards"]["allowDeletions"] = permission);
    world.windlass(&["run"]).ok();
    assert!(!world.kubectl.exists("persistentvolumeclaim", &world.namespace("app"), "data"));
}

#[test]
fn deleting_a_stateful_set() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let files = world.small().with("app/db.yaml", manifests::stateful_set(&workload));
    refused_deletion(&world, &files, "app/db.yaml", "statefulset", "db");
}

#[test]
fn deleting_a_namespace_and_a_secret() {
    let world = World::new();
    let namespace = world.namespace("app");
    let files =
        world.small().with("app/secret.yaml", manifests::secret(&namespace, "credentials", &[("a", "b")]));
    refused_deletion(&world, &files, "app/secret.yaml", "secret", "credentials");
    world.commit(&files.without("base/namespace.yaml").with("base/empty.yaml", ""));
    let outcome = world.windlass(&["run"]);
    outcome.refuses(4, &[]);
    assert!(world.kubectl.exists("namespace", "", &namespace), "{outcome}");
}

#[test]
fn a_deletion_that_the_commit_means() {
    let mut world = World::new();
    let namespace = world.namespace("app");
    let files = world.small();
    world.deliver(
        &files.clone().with("app/secret.yaml", manifests::secret(&namespace, "credentials", &[("a", "b")])),
    );
    let exists = |world: &World| world.kubectl.exists("secret", &namespace, "credentials");
    let meant_until = |day: &str| {
        let meant = format!(
            "{{kind: Secret, namespace: {namespace}, name: credentials, until: {day}, reason: a test}}"
        );
        let settings = format!("{}deletions:\n  - {meant}\n", files.content("windlass.yaml"));
        files.clone().with("windlass.yaml", settings)
    };
    world.commit(&meant_until("2099-12-31"));
    world.windlass(&["run"]).refuses(4, &["credentials", "does not count here"]);
    world.configure(|settings| settings["guards"]["deletionPermissions"] = json!("both"));
    world.windlass(&["run"]).refuses(4, &["credentials", "the environment file does not allow it"]);
    world.configure(|settings| settings["guards"]["deletionPermissions"] = json!("commit"));
    world.commit(&meant_until("2026-01-01"));
    world.windlass(&["run"]).refuses(4, &["credentials", "the permission ended on 2026-01-01"]);
    assert!(exists(&world));
    world.commit(&meant_until("2099-12-31"));
    world.windlass(&["run"]).ok();
    assert!(!exists(&world));
}

#[test]
fn an_empty_directory_where_a_unit_was() {
    let world = World::new();
    let files = world.small();
    world.deliver(&files);
    world.commit(&files.with("windlass.yaml", manifests::units(&[("base", "base", "")])));
    let mut world = world;
    world.configure(|settings| settings["guards"]["pruneBudget"] = json!({"count": 0, "percent": 100}));
    world.windlass(&["run"]).refuses(4, &["settings"]);
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "settings"));
}

#[test]
fn more_deletions_than_the_budget() {
    // Twelve members. The share does not count below ten.
    for (budget, gone) in
        [(json!({"count": 1, "percent": 100}), 2), (json!({"count": 100, "percent": 40}), 5)]
    {
        let mut world = World::new();
        let namespace = world.namespace("app");
        let mut files = world.small();
        for number in 0..10 {
            let name = format!("map-{number}");
            files = files.with(&format!("app/{name}.yaml"), manifests::config_map(&namespace, &name, &[]));
        }
        world.deliver(&files);
        world.configure(|settings| settings["guards"]["pruneBudget"] = budget.clone());
        for number in 0..gone {
            files = files.without(&format!("app/map-{number}.yaml"));
        }
        world.commit(&files);
        world.windlass(&["run"]).refuses(4, &[&gone.to_string(), "pruneBudget"]);
        assert!(world.kubectl.exists("configmap", &namespace, "map-0"));
    }
}

#[test]
fn an_object_that_two_units_render() {
    let world = World::new();
    let files = world.small();
    let settings = files.content("app/settings.yaml").to_owned();
    let units = manifests::units(&[("base", "base", ""), ("app", "app", "base"), ("other", "other", "base")]);
    world.commit(&files.with("windlass.yaml", units).with("other/settings.yaml", settings));
    world.windlass(&["run"]).refuses(65, &["app/settings.yaml", "other/settings.yaml"]);
    super::assert_untouched(&world);
}

#[test]
fn an_object_that_belongs_to_another_environment() {
    let mut world = World::new();
    let files = world.small();
    world.deliver(&files);
    let owner = world.environment.clone();
    let other = format!("other-{}", world.suffix);
    world.configure(|settings| settings["environment"] = json!(other));
    world.windlass(&["plan"]).refuses(4, &["settings"]).says_one_of(&[&owner, "another", "applyset"]);
    world.windlass(&["run"]).refuses(4, &["settings"]);
}

#[test]
fn a_field_that_another_manager_owns() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    let by_hand = manifests::config_map(&namespace, "settings", &[("colour", "red")]);
    world.kubectl.feed(
        &["apply", "--server-side", "--force-conflicts", "--field-manager=oncall", "-f", "-"],
        &by_hand,
    );
    world.windlass(&["plan"]).refuses(4, &["settings", "colour", "oncall"]);
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "red");
}

#[test]
fn a_change_of_an_immutable_field() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let files = world.small().with("app/db.yaml", manifests::stateful_set(&workload));
    world.deliver(&files);
    let before = world.kubectl.field("statefulset", &namespace, "db", "/metadata/uid");
    world.commit(&files.replace("app/db.yaml", "serviceName: db", "serviceName: other"));
    world.windlass(&["plan"]).refuses(4, &["db", "serviceName"]);
    world.windlass(&["run"]).refuses(4, &["db", "serviceName"]);
    assert_eq!(world.kubectl.field("statefulset", &namespace, "db", "/metadata/uid"), before);
}
