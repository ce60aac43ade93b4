//! Deliveries that the environment file forbids for now: freezes and rules over plans.

use serde_json::json;
use windlass_e2e::World;

#[test]
fn a_freeze_stops_deliveries_and_neither_plans_nor_drift() {
    let mut world = World::new();
    let files = world.small();
    world.deliver(&files);
    world.deliver(&files.clone().replace("app/settings.yaml", "blue", "green"));
    let freeze = json!([{
        "name": "forever", "reason": "a test", "from": "2020-01-01", "until": "2999-12-31T08:00", "timeZone": "Europe/Amsterdam",
    }]);
    world.configure(|settings| settings["guards"]["freezes"] = freeze);
    // Nothing changes, so nothing is stopped.
    world.windlass(&["run"]).ok();
    world.windlass(&["drift"]).ok();
    world.commit(&files.replace("app/settings.yaml", "blue", "red"));
    world
        .windlass(&["plan"])
        .ok()
        .says("a run would be refused now: frozen until 2999-12-31T08:00 Europe/Amsterdam");
    world
        .windlass(&["run"])
        .refuses(4, &["freeze: frozen until 2999-12-31T08:00 Europe/Amsterdam: forever (a test)"]);
    assert_eq!(
        world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour"),
        "green"
    );
    // Going back is what one may need most just then.
    world.windlass(&["rollback", "--reason", "it is slow"]).ok();
    assert_eq!(world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour"), "blue");
}

#[test]
fn a_rule_over_the_plan() {
    let mut world = World::new();
    let rule = json!([{
        "name": "no-new-settings",
        "deny": "plan.actions.exists(a, a.operation == 'create' && a.object.kind == 'ConfigMap')",
        "message": "settings are made by hand here",
    }]);
    world.configure(|settings| settings["guards"]["rules"] = rule);
    world.commit(&world.small());
    for command in ["plan", "run"] {
        world.windlass(&[command]).refuses(4, &["rule: no-new-settings: settings are made by hand here"]);
    }
    world.configure(|settings| settings["guards"]["rules"][0]["deny"] = json!("plan.actions.exists("));
    world.windlass(&["run"]).refuses(65, &["guards.rules[0].deny: not a CEL expression"]);
}
