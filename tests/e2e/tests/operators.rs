//! Objects that an operator looks after.

use windlass_e2e::{World, manifests};

/// kustomize-controller issue 387, cluster-api issue 9299: without a status it looked like one that is fine.
#[test]
fn a_custom_resource_that_no_operator_has_seen_is_not_called_ready() {
    let world = World::new();
    let namespace = world.namespace("app");
    let group = format!("unseen-{}.example.dev", world.suffix);
    world.kubectl.apply(&crate::sets::rights(&world, &[&group]));
    world.owns(&format!("customresourcedefinition/widgets.{group}"));
    for kind in ["clusterrole", "clusterrolebinding"] {
        world.owns(&format!("{kind}/sets-{}", world.suffix));
    }
    let files = world
        .small()
        .with("base/widgets.yaml", manifests::widgets(&group))
        .with("app/widget.yaml", manifests::widget(&group, &namespace, "gear", 1));
    world.commit(&files);
    let judged = "2 objects ready; 1 custom resource is left to its operator and not judged";
    world.windlass(&["run"]).ok().says(judged);
    world.windlass(&["run"]).ok().says(judged);
}
