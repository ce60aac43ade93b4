//! A protected branch whose history was rewritten.

use windlass_e2e::World;

/// Nothing could be delivered any more, planned or compared, and no command led out of it.
#[test]
fn a_branch_goes_on_once_somebody_has_accepted_that_it_was_rewritten() {
    let world = World::new();
    let colour = || world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour");
    let painted = |colour| world.small().replace("app/settings.yaml", "blue", colour);
    let first = world.deliver(&world.small());
    world.deliver(&painted("green"));
    world.repository.rewind(&first);
    let tip = world.commit(&painted("red"));
    for command in ["run", "plan", "drift"] {
        world.windlass(&[command]).refuses(4, &["accept-rewrite"]);
    }
    let accept =
        |tip: &str| world.windlass(&["accept-rewrite", "--reason", "a leak (INC-4711)", "--tip", tip]);
    accept(&first).refuses(4, &[&tip, "not at"]);
    world.windlass(&["run"]).refuses(4, &[]);
    accept(&tip).ok().says(&tip);
    assert_eq!(colour(), "green", "accepting delivers nothing");
    world.windlass(&["run", "--commit", &first]).refuses(4, &["older"]);
    world.windlass(&["run"]).ok();
    assert_eq!(colour(), "red");
    world.windlass(&["drift"]).ok();
    let history = world.windlass(&["history", "--output", "json"]).ok().json();
    let runs = history["runs"].as_array().unwrap();
    let accepted = runs.iter().find(|run| run["command"] == "accept-rewrite").unwrap();
    assert_eq!((&accepted["reason"], &accepted["outcome"]), (&"a leak (INC-4711)".into(), &"ok".into()));
}
