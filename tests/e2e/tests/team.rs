//! The second example: a team's repository beside the platform's.

use std::path::Path;

use windlass_e2e::{Files, World};

#[test]
fn the_team_s_repository_is_delivered_with_its_probes() {
    let world = World::new();
    let (namespace, class) = (world.namespace("billing"), format!("team-{}", world.suffix));
    world.kubectl.apply(&format!(
        "apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {class}}}
provisioner: kubernetes.io/host-path
volumeBindingMode: WaitForFirstConsumer
"
    ));
    world.owns(&format!("storageclass/{class}"));
    let rename = |text: &str| {
        text.replace("namespace: billing\n", &format!("namespace: {namespace}\n"))
            .replace("name: billing\n", &format!("name: {namespace}\n"))
            .replace("service: billing/", &format!("service: {namespace}/"))
            .replace("stateful-retain", &class)
            .replace("stateful/{env}", "stateful/prd")
            .replace("environments: [prd]", &format!("environments: [{}]", world.environment))
    };
    let files = Files::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/team")).map(rename);
    world.commit(&files);
    world.windlass(&["run"]).ok().says("2 probes passed");
    let ready = world.kubectl.field("statefulset", &namespace, "queue", "/status/readyReplicas");
    assert_eq!(ready, world.kubectl.field("statefulset", &namespace, "queue", "/spec/replicas"));
    world.windlass(&["run"]).ok().says("nothing to write");
}
