//! Going back to what worked.

use serde_json::json;
use windlass_e2e::{Audit, World, manifests, until};

#[test]
fn without_an_earlier_commit_says_so() {
    let world = World::new();
    world.deliver(&world.small());
    let outcome = world.windlass(&["rollback", "--reason", "a test"]);
    assert!([4, 65].contains(&outcome.code), "{outcome}");
    assert!(outcome.stderr.contains("hint:"), "{outcome}");
    outcome.says_one_of(&["no earlier", "no previous", "nothing to go back", "no other", "completed"]);
}

#[test]
fn needs_a_reason_and_an_approval_of_its_own() {
    let mut world = World::new();
    let namespace = world.namespace("app");
    let first = world.deliver(&world.small());
    let added = manifests::config_map(&namespace, "added", &[]);
    world.deliver(&world.small().replace("app/settings.yaml", "blue", "green").with("app/added.yaml", added));
    world.configure(|settings| settings["approval"]["required"] = json!("always"));
    world.windlass(&["rollback"]).exits(64).says("--reason");
    let reason = ["rollback", "--reason", "orders time out (INC-4711)"];
    world.windlass(&reason).refuses(3, &[]);
    world.configure(|settings| settings["approval"]["required"] = json!("never"));
    world.windlass(&reason).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "blue");
    assert!(
        !world.kubectl.exists("configmap", &namespace, "added"),
        "what the newer commit brought is pruned"
    );
    let history = world.windlass(&["history", "--output", "json"]).ok().json();
    assert_eq!(history["runs"][0]["command"], "rollback", "{history:#}");
    let run = history["runs"][0]["id"].as_str().unwrap();
    world.windlass(&["show", run]).ok().says("INC-4711").says(&first[..12]);
    // What was rolled back is newer, so an ordinary run delivers it again, knowingly.
    world.windlass(&["run"]).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "green");
}

#[test]
fn that_was_killed_is_continued_by_the_same_command() {
    let world = World::new();
    let namespace = world.namespace("app");
    let version = |version: &str, colour: &str| {
        let workload =
            manifests::Workload { version, ..manifests::Workload::db(&namespace, &[("ready-after", "3s")]) };
        let files = world.small().replace("app/settings.yaml", "blue", colour);
        files.with("app/db.yaml", manifests::stateful_set(&workload))
    };
    world.deliver(&version("1", "green"));
    world.deliver(&version("2", "red"));
    let started = "\"event\":\"stageStarted\",\"stage\":\"rollout\"";
    let before = world.journalled(started);
    let mut process = world.start(&["rollback", "--reason", "version 2 is bad"]);
    until(60, "the rollout of the rollback", || {
        assert!(process.runs(), "{}", process.so_far());
        (world.journalled(started) > before).then_some(())
    });
    process.signal("KILL");
    process.wait().exits(-9);
    // At three in the morning nobody remembers a commit's id: the same command must not go forth again.
    world.windlass(&["rollback", "--reason", "version 2 is bad", "--lock-timeout", "60s"]).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "green");
    world.windlass(&["drift"]).ok();
}

#[test]
fn to_a_named_commit_goes_back_only_to_what_was_completed() {
    let world = World::new();
    let first = world.deliver(&world.small());
    for colour in ["green", "red"] {
        world.deliver(&world.small().replace("app/settings.yaml", "blue", colour));
    }
    let undelivered = world.commit(&world.small().replace("app/settings.yaml", "blue", "black"));
    let rollback = ["rollback", "--reason", "a test", "--to"];
    let refused = world.windlass(&[&rollback[..], &[&undelivered]].concat());
    assert!([4, 65].contains(&refused.code), "{refused}");
    world.windlass(&[&rollback[..], &[&first]].concat()).ok();
    assert_eq!(world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour"), "blue");
}

/// The approval of a delivery that failed stays good, so that the delivery can be finished; once another one has completed,
/// it would bring back what was taken back, and nobody would look at it.
#[test]
fn what_failed_and_was_rolled_back_needs_another_approval() {
    let mut world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let broken = manifests::Workload::db(&namespace, &[("image-pull-error", "true")]);
    world.commit(&world.small().with("app/db.yaml", manifests::deployment(&broken)));
    let required = |world: &mut World, when: &str| {
        world.configure(|settings| settings["approval"]["required"] = json!(when));
    };
    required(&mut world, "always");
    world.plan_and_approve("alice");
    world.windlass(&["run"]).exits(8);
    world.windlass(&["run"]).exits(8);
    required(&mut world, "never");
    world.windlass(&["rollback", "--reason", "it does not start"]).ok();
    required(&mut world, "always");
    world.windlass(&["run"]).refuses(3, &[]);
    assert!(!world.kubectl.exists("deployment", &namespace, "db"));
}

/// A volume cannot shrink: of a rollback that would ask for it nothing is carried out, and the running data stays.
#[test]
fn over_a_claim_that_has_grown_is_refused_before_anything_is_written() {
    let world = World::new();
    let (namespace, class) = (world.namespace("app"), format!("grows-{}", world.suffix));
    world.owns(&format!("storageclass/{class}"));
    let grows = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
        "provisioner": "kubernetes.io/host-path", "allowVolumeExpansion": true});
    world.kubectl.apply(&grows.to_string());
    let version = |size: &str, colour: &str| {
        let claim = manifests::claim(&namespace, "data").replace("windlass-e2e", &class).replace("1Gi", size);
        world.small().replace("app/settings.yaml", "blue", colour).with("app/data.yaml", claim)
    };
    world.deliver(&version("1Gi", "blue"));
    until(30, "the claim is bound", || {
        (world.kubectl.field("pvc", &namespace, "data", "/status/phase") == "Bound").then_some(())
    });
    world.deliver(&version("2Gi", "green"));
    let mark = Audit::mark();
    let outcome = world.windlass(&["rollback", "--reason", "green is bad"]);
    outcome.refuses(4, &["PersistentVolumeClaim", "never shrinks", "deliver the new one as `data-2`"]);
    assert_eq!(mark.writes_to_members(&world.suffix), []);
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "green");
    let asked = world.kubectl.field("pvc", &namespace, "data", "/spec/resources/requests/storage");
    assert_eq!(asked, "2Gi");
}
