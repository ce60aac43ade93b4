//! How much memory a plan takes.

use serde_json::json;
use windlass_e2e::{Bed, World};

const FEW: usize = 50;
const MANY: usize = 350;
/// KiB that one more object may take, with its share of the file and the page that it is read from: some 60. A tree of
/// such an object and of its managed fields takes as much again, and there would be three: manifest, live, answer.
const EACH: u64 = 90;

/// An object with a tree that is large for its text, which no controller looks at.
fn template(namespace: &str, number: usize) -> String {
    let container = |name: &str| {
        json!({
            "name": name, "image": "registry.example/app:1", "ports": [{"containerPort": 80, "name": name}],
            "env": [{"name": "A", "value": "b"}, {"name": "P", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
            "resources": {"requests": {"cpu": "100m", "memory": "1Mi"}, "limits": {"memory": "2Mi"}},
            "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
            "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
            "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true},
        })
    };
    let body = json!({
        "apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": format!("t{number}"), "namespace": namespace},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [container("one"), container("two")], "securityContext": {"fsGroup": 1}},
        },
    });
    format!("---\n{body}\n")
}

#[test]
fn a_plan_holds_no_object_as_a_tree() {
    let world = World::new();
    let namespace = world.namespace("footprint");
    world.kubectl.run(&["create", "namespace", &namespace]);
    let folder = |count: usize| {
        let folder = world.path(&format!("templates{count}"));
        std::fs::create_dir_all(&folder).unwrap();
        let text: String = (0..count).map(|number| template(&namespace, number)).collect();
        std::fs::write(folder.join("all.yaml"), text).unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let (few, many) = (folder(FEW), folder(MANY));
    world.kubectl.run(&["apply", "--server-side", "--field-manager=windlass", "-f", &many]);
    let kubeconfig = Bed::get().kubeconfig.to_str().unwrap().to_owned();
    let peak = |folder: &str| {
        let arguments = ["plan", folder, "--kubeconfig", &kubeconfig, "--context", "testbed", "--no-memo"];
        let (outcome, peak) = world.start_with(&arguments).wait_and_measure();
        outcome.ok().says("nothing to do");
        peak
    };
    let (few, many) = (peak(&few), peak(&many));
    assert!(few > 0 && many > few, "{few} KiB for {FEW}, {many} KiB for {MANY}");
    let each = (many - few) / u64::try_from(MANY - FEW).unwrap();
    assert!(each <= EACH, "{each} KiB an object: {few} KiB for {FEW}, {many} KiB for {MANY}");
}
