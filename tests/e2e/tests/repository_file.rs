//! How `windlass.yaml` cuts a repository into units.

use windlass_e2e::{Files, World, manifests};

fn map(world: &World, name: &str) -> String {
    manifests::config_map(&world.namespace("app"), name, &[("a", "b")])
}

#[test]
fn units_are_applied_after_what_they_name() {
    let world = World::new();
    // Listed in the wrong order: without `after` the namespace would come too late.
    let units = manifests::units(&[("third", "c", "second"), ("second", "b", "first"), ("first", "a", "")]);
    let files = Files::new()
        .with("windlass.yaml", units)
        .with("a/namespace.yaml", manifests::namespace(&world.namespace("app")))
        .with("b/two.yaml", map(&world, "two"))
        .with("c/three.yaml", map(&world, "three"));
    world.deliver(&files);
    let made = |name: &str| {
        world.kubectl.field("configmap", &world.namespace("app"), name, "/metadata/resourceVersion")
    };
    let number = |name: &str| made(name).as_str().unwrap().parse::<u64>().unwrap();
    assert!(number("two") < number("three"));
}

#[test]
fn a_circle_of_units_and_a_unit_that_is_not_there_are_mistakes() {
    for (units, says) in [
        ([("one", "a", "two"), ("two", "b", "one")], "one"),
        ([("one", "a", ""), ("two", "b", "three")], "three"),
    ] {
        let world = World::new();
        let files = Files::new()
            .with("windlass.yaml", manifests::units(&units))
            .with("a/one.yaml", map(&world, "one"))
            .with("b/two.yaml", map(&world, "two"));
        world.commit(&files);
        world.windlass(&["run"]).refuses(65, &["windlass.yaml", says]);
    }
}

#[test]
fn a_unit_of_other_environments_is_left_out() {
    let world = World::new();
    let units = format!(
        "{}  - name: elsewhere\n    path: elsewhere\n    environments: [prd]\n  - name: here\n    path: here/{{env}}\n    after: [base]\n    environments: [{}]\n",
        manifests::units(&[("base", "base", "")]),
        world.environment,
    );
    let files = Files::new()
        .with("windlass.yaml", units)
        .with("base/namespace.yaml", manifests::namespace(&world.namespace("app")))
        .with("elsewhere/one.yaml", map(&world, "elsewhere"))
        .with(&format!("here/{}/two.yaml", world.environment), map(&world, "here"));
    world.deliver(&files);
    let namespace = world.namespace("app");
    assert!(world.kubectl.exists("configmap", &namespace, "here"));
    assert!(!world.kubectl.exists("configmap", &namespace, "elsewhere"));
}

#[test]
fn without_the_file_infrastructure_comes_first_and_then_every_application() {
    let world = World::new();
    let environment = &world.environment;
    let files = Files::new()
        .with("infrastructure/stateful/namespace.yaml", manifests::namespace(&world.namespace("app")))
        .with(&format!("apps/a/stateful/{environment}/one.yaml"), map(&world, "one"))
        .with(&format!("apps/b/stateful/{environment}/two.yaml"), map(&world, "two"))
        .with("apps/b/stateful/other/three.yaml", map(&world, "three"))
        .with("apps/c/stateless/deployment.yaml", map(&world, "four"));
    world.deliver(&files);
    let found = crate::names(&world.kubectl.json(&["configmaps", "-n", &world.namespace("app")]));
    let ours: Vec<&str> =
        found.iter().map(String::as_str).filter(|name| *name != "kube-root-ca.crt").collect();
    assert_eq!(ours, ["one", "two"]);
}
