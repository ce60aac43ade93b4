//! Volumes that survive an approved deletion.

use std::process::Command;

use serde_json::json;
use windlass_e2e::{Bed, World, manifests, until};

const RIGHT: &str = include_str!("../../../pipeline/rbac/optional/retain-volumes.yaml");

#[test]
fn the_volume_of_a_deleted_claim_survives_and_is_bound_again_by_what_the_report_says() {
    let mut world = World::new();
    world.kubectl.apply(RIGHT);
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let mounted = manifests::deployment(&workload)
        + "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n";
    let files = world.small().with("app/data.yaml", manifests::claim(&namespace, "data"));
    world.deliver(&files.with("app/db.yaml", mounted));
    let volume = world.kubectl.field("pvc", &namespace, "data", "/spec/volumeName");
    let volume = volume.as_str().expect("the claim is bound").to_owned();
    world.owns(&format!("persistentvolume/{volume}"));
    let policy = "/spec/persistentVolumeReclaimPolicy";
    assert_eq!(world.kubectl.field("pv", "", &volume, policy), "Delete");

    world.configure(|settings| {
        settings["guards"]["retainVolumes"] = json!(true);
        settings["guards"]["allowDeletions"] = json!([{
            "kind": "PersistentVolumeClaim", "namespace": namespace, "name": "data", "until": "2099-12-31", "reason": "moved",
        }, {
            "kind": "Deployment.apps", "namespace": namespace, "name": "db", "until": "2099-12-31", "reason": "moved",
        }]);
    });
    world.commit(&world.small());
    world.windlass(&["plan"]).ok().says("is set to Retain first").says(&volume);
    let outcome = world.windlass(&["run"]);
    outcome.ok().says("to bind it again");
    assert!(!world.kubectl.exists("pvc", &namespace, "data"));
    assert!(world.journalled("\"verb\":\"patch\"") > 0, "the change of the policy is not in the journal");
    until(30, "the volume is released", || {
        (world.kubectl.field("pv", "", &volume, "/status/phase") == "Released").then_some(())
    });
    assert_eq!(world.kubectl.field("pv", "", &volume, policy), "Retain");

    // What the report says, word for word.
    let commands: Vec<&str> =
        outcome.stderr.lines().map(str::trim).filter(|line| line.contains("kubectl ")).collect();
    assert_eq!(commands.len(), 2, "{outcome}");
    shell(commands[0]);
    somebody_else_s_claim_does_not_get(&volume, &world, &namespace);
    shell(commands[1]);
    until(30, "the claim is bound to the volume that it had", || {
        (world.kubectl.field("pvc", &namespace, "data", "/status/phase") == "Bound").then_some(())
    });
    assert_eq!(world.kubectl.field("pvc", &namespace, "data", "/spec/volumeName"), json!(volume));
}

fn shell(command: &str) {
    let (bed, mut shell) = (Bed::get(), Command::new("sh"));
    shell.args(["-c", command]).env("PATH", &bed.path).env("KUBECONFIG", &bed.kubeconfig);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Between the two commands the volume is free, and the data in it belongs to one claim only.
fn somebody_else_s_claim_does_not_get(volume: &str, world: &World, namespace: &str) {
    world.kubectl.apply(
        &manifests::claim(namespace, "rival").replace("spec:\n", &format!("spec:\n  volumeName: {volume}\n")),
    );
    let refused = "involvedObject.name=rival,reason=FailedBinding";
    until(30, "the rival's claim is refused or bound", || {
        let events = world.kubectl.json(&["events", "-n", namespace, "--field-selector", refused]);
        let phase = world.kubectl.field("pvc", namespace, "rival", "/status/phase");
        assert_ne!(phase, "Bound", "the data of a database went to a stranger");
        events["items"].as_array().is_some_and(|items| !items.is_empty()).then_some(())
    });
}
