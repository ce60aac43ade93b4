//! Whole deliveries of the example repository.

use serde_json::{Value, json};
use windlass_e2e::{Audit, Platform, World, difference, normalise};

/// Delivers an overlay of the example under the example's own environment file.
fn deliver(overlay: &'static str, approved: bool) -> (World, Platform) {
    let world = World::named(overlay);
    let platform = Platform::new(&world, overlay);
    platform.enforce_policies(&world);
    world.write_settings_text(platform.settings(&world).content("environment.yaml"));
    world.commit(&platform.files);
    let approvals = world.path("approvals");
    let run = ["run", "--approvals", approvals.to_str().unwrap()];
    if approved {
        world.windlass(&run).refuses(3, &[]);
        world.plan_and_approve("alice");
    }
    world.windlass(&run).ok();
    (world, platform)
}

fn versions(objects: &[Value]) -> Vec<(String, String)> {
    let version = |object: &Value| {
        let metadata = &object["metadata"];
        (format!("{}/{}", object["kind"], metadata["name"]), metadata["resourceVersion"].to_string())
    };
    objects.iter().map(version).collect()
}

#[test]
fn production_is_delivered_with_a_signed_approval_and_the_same_commit_again_writes_nothing() {
    let (world, platform) = deliver("prd", true);
    let members = world.kubectl.json(&["pods", "-n", &platform.shop]);
    assert_eq!(members["items"].as_array().unwrap().len(), 3, "the overlay asks for three members");

    let before = platform.live(&world);
    let mark = Audit::mark();
    world.windlass(&["run"]).ok();
    assert_eq!(mark.writes_to_members(&world.suffix), [], "the second run wrote to members");
    assert_eq!(versions(&platform.live(&world)), versions(&before));
    let drift = world.windlass(&["drift"]);
    drift.ok();
}

#[test]
fn acceptance_is_delivered_and_equals_what_kubectl_apply_leaves_behind() {
    let (world, platform) = deliver("acc", true);
    let twin = format!("k{}", world.suffix);
    let other = Platform::renamed(&world, "acc", &twin);
    let folder = world.checkout(&other.files);
    for unit in ["infrastructure/stateful".to_owned(), other.shop_path(&twin)] {
        let rendered = world.kubectl.run(&["kustomize", folder.join(unit).to_str().unwrap()]);
        // The CRD is served a moment after it is applied.
        windlass_e2e::until(20, "kubectl applies the unit", || {
            let applied = world.kubectl.attempt(&["apply", "--server-side", "-f", "-"], &rendered);
            applied.status.success().then_some(())
        });
    }
    let ours = platform.live(&world);
    let theirs = other.live(&world);
    // The overlay's folder is part of no object, so only the suffix differs; hashes of names do not.
    let ours: Vec<Value> = ours.iter().map(|object| normalise(object, &world.suffix, "SUFFIX")).collect();
    let theirs: Vec<Value> = theirs.iter().map(|object| normalise(object, &twin, "SUFFIX")).collect();
    assert!(ours.len() >= 15, "only {} objects are compared", ours.len());
    assert_eq!(difference(&json!(theirs), &json!(ours)), [""; 0], "kubectl ≠ windlass");
}

#[test]
fn development_is_delivered_without_asking_anybody() {
    let (world, platform) = deliver("dev", false);
    assert_eq!(world.kubectl.field("statefulset", &platform.shop, "db", "/status/readyReplicas"), 1);
    world.windlass(&["status"]).ok();
}

/// The agent's disk fills up otherwise; what is not a run's folder is none of ours.
#[test]
fn a_run_removes_the_folders_of_old_runs_and_nothing_else() {
    let mut world = World::new();
    world.configure(|settings| settings["record"]["keep"] = json!(1));
    let reports = world.path("reports");
    let plant = |name: &str, journal: &str| {
        std::fs::create_dir_all(reports.join(name)).unwrap();
        std::fs::write(reports.join(name).join(journal), "").unwrap();
    };
    plant("20200101-000000-abcd", "20200101-000000-abcd.jsonl");
    plant("20200101-000001-abcd", "notes.txt");
    plant("archive", "archive.jsonl");
    world.deliver(&world.small());
    let mut left: Vec<String> = std::fs::read_dir(&reports)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("2020") || name == "archive")
        .collect();
    left.sort();
    assert_eq!(left, ["20200101-000001-abcd", "archive"]);
}
