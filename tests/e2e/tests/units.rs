//! Units that render nothing any more, on purpose and by mistake.

use serde_json::json;
use windlass_e2e::{Files, World, manifests};

/// Three units, of which the last one holds one ConfigMap.
fn three(world: &World) -> Files {
    let namespace = world.namespace("app");
    let units = manifests::units(&[("base", "base", ""), ("app", "app", "base"), ("side", "side", "app")]);
    let side = manifests::config_map(&namespace, "side", &[("a", "b")]);
    world.small().with("windlass.yaml", units).with("side/side.yaml", side)
}

/// kubernetes issue 40635: an emptied directory is a mistake until somebody says otherwise.
#[test]
fn a_unit_that_renders_nothing_is_refused_by_name() {
    let world = World::new();
    world.deliver(&three(&world));
    world.commit(&three(&world).with("side/side.yaml", ""));
    world.windlass(&["run"]).refuses(4, &["empty-unit", "`side`", "allowDeletions"]);
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "side"));
}

#[test]
fn a_unit_that_is_gone_goes_once_the_environment_file_names_it() {
    let mut world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&three(&world));
    let two = manifests::units(&[("base", "base", ""), ("app", "app", "base")]);
    world.commit(&three(&world).with("windlass.yaml", two));
    world.windlass(&["run"]).refuses(4, &["unit-gone", "`side`"]);
    assert!(world.kubectl.exists("configmap", &namespace, "side"));
    let permission =
        json!([{"kind": "Unit", "name": "side", "until": "2099-12-31", "reason": "merged into app"}]);
    world.configure(|settings| settings["guards"]["allowDeletions"] = permission);
    world.windlass(&["run"]).ok();
    assert!(!world.kubectl.exists("configmap", &namespace, "side"));
    let parent = format!("windlass.{}.side", world.environment);
    assert!(!world.kubectl.exists("configmap", "windlass-system", &parent), "its set is left behind");
    world.windlass(&["drift"]).ok();
}

/// kubernetes issue 108161: what nobody delivered with Windlass is never part of a deletion, whatever lies beside it.
#[test]
fn namespaces_that_somebody_else_applied_stay() {
    let world = World::new();
    let others = [world.namespace("one"), world.namespace("two")];
    for name in &others {
        world.kubectl.feed(&["apply", "-f", "-"], &manifests::namespace(name));
    }
    world.deliver(&three(&world));
    world.deliver(
        &three(&world).with("side/side.yaml", manifests::config_map(&world.namespace("app"), "other", &[])),
    );
    assert!(!world.kubectl.exists("configmap", &world.namespace("app"), "side"));
    for name in &others {
        assert!(world.kubectl.exists("namespace", "", name), "{name}");
    }
}
