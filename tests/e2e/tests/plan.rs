//! What a plan shows, and that it changes nothing.

use serde_json::{Value, json};
use windlass_e2e::{Audit, Bed, Files, Kubectl, World, manifests};

/// Returns the action on an object.
#[track_caller]
fn action<'a>(plan: &'a Value, kind: &str, name: &str) -> &'a Value {
    let actions = plan["actions"].as_array().unwrap_or_else(|| panic!("no actions in {plan}"));
    let found = actions.iter().find(|action| {
        let object = action["object"].to_string();
        object.contains(&format!("\"{name}\"")) && object.contains(kind)
    });
    found.unwrap_or_else(|| panic!("no action on {kind} {name} in {plan:#}"))
}

/// Checks a plan against the schema that the documentation publishes.
fn schema_errors(plan: &Value) -> Vec<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/plan.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(plan).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn a_plan_shows_creations_and_writes_nothing_at_all() {
    let mut world = World::new();
    world.sign_in_as("windlass-plan");
    world.commit(&world.small());
    let mark = Audit::mark();
    let folder = world.path("out/plan");
    world.windlass(&["plan", "--out", folder.to_str().unwrap()]).ok();
    let writes: Vec<_> =
        mark.requests(&world.suffix).into_iter().filter(windlass_e2e::Request::writes).collect();
    assert_eq!(writes, [], "a plan has written");
    let leases: Vec<_> = mark
        .requests(&world.suffix)
        .into_iter()
        .filter(|r| r.resource == "leases" && r.verb != "get")
        .collect();
    assert_eq!(leases, [], "a plan has touched the lock");
    assert_eq!(world.records(), [""; 0], "a plan has left a record");
    for file in ["plan.json", "plan.html", "plan.md", "plan.txt"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("settings"), "{file}: {text}");
    }
    let plan: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("plan.json")).unwrap()).unwrap();
    assert_eq!(action(&plan, "ConfigMap", "settings")["operation"], "create");
    assert!(plan["changeDigest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(schema_errors(&plan), [""; 0]);
    // What the API server could not be asked yet is said to be so.
    assert_eq!(action(&plan, "ConfigMap", "settings")["preview"]["verified"], "locally");
    assert_eq!(action(&plan, "Namespace", &world.namespace("app"))["preview"]["verified"], "server");
}

#[test]
fn the_identity_of_plans_can_preview_and_cannot_write() {
    let mut world = World::new();
    let files = world.small();
    world.deliver(&files);
    world.commit(&files.replace("app/settings.yaml", "blue", "green"));
    world.sign_in_as("windlass-plan");
    world.windlass(&["plan", "--detailed-exitcode"]).exits(2).says("green");
    let namespace = world.namespace("app");
    let plan = Kubectl::identity(Bed::get(), "windlass-plan");
    let attempt = plan.attempt(&["delete", "configmap", "settings", "-n", &namespace], "");
    assert!(
        String::from_utf8_lossy(&attempt.stderr).contains("this identity may only dry-run"),
        "{attempt:?}"
    );
    let run = world.windlass(&["run"]);
    assert_ne!(run.code, 0, "{run}");
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "blue");
}

#[test]
fn the_detailed_exit_code_tells_changes_from_none() {
    let world = World::new();
    world.commit(&world.small());
    world.windlass(&["plan", "--detailed-exitcode"]).exits(2);
    world.windlass(&["plan"]).ok();
    world.windlass(&["run"]).ok();
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
    let plan = world.windlass(&["plan", "--output", "json"]).ok().json();
    assert_eq!(schema_errors(&plan), [""; 0]);
    assert_eq!(plan.pointer("/plan/counts").or(plan.get("counts")).unwrap_or(&Value::Null)["problems"], 0);
}

#[test]
fn a_directory_is_planned_without_an_environment_file() {
    let world = World::new();
    let namespace = world.namespace("app");
    let folder = world.checkout(
        &Files::new()
            .with("namespace.yaml", manifests::namespace(&namespace))
            .with("settings.yaml", manifests::config_map(&namespace, "settings", &[("colour", "blue")])),
    );
    let kubeconfig = Bed::get().identity("windlass-plan");
    let arguments = [
        "plan",
        folder.to_str().unwrap(),
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--context",
        "testbed",
        "--detailed-exitcode",
    ];
    world.call(&arguments).exits(2).says("settings").says("create");
    assert!(!world.kubectl.exists("namespace", "", &namespace));
}

#[test]
fn one_bad_object_hides_no_other() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let group = format!("e2e-{}.example.dev", world.suffix);
    let bad = manifests::deployment(&manifests::Workload {
        namespace: &namespace,
        name: "web",
        version: "1",
        replicas: 1,
        symptoms: &[],
    });
    let files = world
        .small()
        .replace("app/settings.yaml", "blue", "green")
        .with("app/bad.yaml", bad.replace("matchLabels: {app: web}", "matchLabels: {app: other}"))
        .with("app/unknown.yaml", manifests::widget(&group, &namespace, "lost", 1))
        .with("app/good.yaml", manifests::config_map(&namespace, "good", &[("a", "b")]));
    world.commit(&files);
    let plan = world.windlass(&["plan"]);
    plan.refuses(65, &["web", "selector", "lost", "good", "green"]);
    world.windlass(&["run"]).refuses(65, &["web"]);
    assert!(!world.kubectl.exists("configmap", &namespace, "good"), "a refused plan was carried out in part");
}

#[test]
fn a_resource_comes_in_the_same_commit_as_its_definition() {
    let mut world = World::new();
    world.configure(|settings| settings["cluster"]["kubeconfig"] = json!(Bed::get().kubeconfig));
    let (namespace, group) = (world.namespace("app"), format!("e2e-{}.example.dev", world.suffix));
    world.owns(&format!("customresourcedefinition/widgets.{group}"));
    let files = world
        .small()
        .with("base/widgets.yaml", manifests::widgets(&group))
        .with("app/widget.yaml", manifests::widget(&group, &namespace, "gear", 0));
    world.commit(&files);
    let refused = world.windlass(&["run"]);
    assert!([4, 7, 65].contains(&refused.code), "{refused}");
    refused.refuses(refused.code, &["gear", "size"]);
    let files = files.replace("app/widget.yaml", "size: 0", "size: 3");
    world.commit(&files);
    world.windlass(&["plan"]).ok().says("gear");
    world.windlass(&["run"]).ok();
    assert_eq!(world.kubectl.field(&format!("widgets.{group}"), &namespace, "gear", "/spec/colour"), "blue");
}

#[test]
fn a_plan_forecasts_which_pods_restart() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 2, symptoms: &[] };
    let files = world.small().with("app/db.yaml", manifests::stateful_set(&workload));
    world.deliver(&files);
    world.commit(&files.replace("app/db.yaml", "db:1", "db:2"));
    world.windlass(&["plan"]).ok().says("image").says("db:2").says_one_of(&["restart"]);
}
