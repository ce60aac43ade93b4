//! What earlier plans were answered is used again, and only where nothing moved.

use std::path::PathBuf;

use windlass_e2e::{Audit, World, until};

/// Plans, and returns how many dry-runs that took.
fn dry_runs(world: &World, arguments: &[&str]) -> usize {
    let mark = Audit::mark();
    world.windlass(&[&["plan"], arguments].concat()).ok();
    mark.requests(&world.suffix).iter().filter(|request| request.dry_run).count()
}

/// Plans until nothing is asked any more: other tests change policies meanwhile.
fn learn(world: &World) {
    until(60, "a plan without dry-runs", || (dry_runs(world, &[]) == 0).then_some(()));
}

fn memory_file(world: &World) -> PathBuf {
    let folder = std::fs::read_dir(world.path("cache/answers")).unwrap();
    let files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn an_unchanged_cluster_is_planned_without_a_dry_run_and_a_changed_one_is_not() {
    let mut world = World::new();
    world.deliver(&world.small());
    world.sign_in_as("windlass-plan");
    learn(&world);
    assert_eq!(dry_runs(&world, &["--no-memo"]), 2);
    // Drift is found by the same question to another version of the object.
    let namespace = world.namespace("app");
    world.kubectl.edit("configmap", &namespace, "settings", "s/blue/red/");
    world.windlass(&["plan", "--detailed-exitcode"]).exits(2).says("colour");
}

#[test]
fn a_run_plans_with_the_memory_and_delivers_what_changed() {
    let world = World::new();
    world.deliver(&world.small());
    learn(&world);
    world.windlass(&["run"]).ok().says("nothing to write");
    world.deliver(&world.small().replace("app/settings.yaml", "blue", "green"));
    let namespace = world.namespace("app");
    assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "green");
}

#[test]
fn a_damaged_memory_is_a_note_and_is_mended() {
    let world = World::new();
    world.deliver(&world.small());
    learn(&world);
    let file = memory_file(&world);
    std::fs::write(&file, "{").unwrap();
    world.windlass(&["plan"]).ok().says("damaged");
    learn(&world);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("{\"format\""));
}
