//! Files and command lines that are wrong.

use windlass_e2e::{World, manifests};

/// Commits one more file and expects that every command which reads it says what is wrong with it.
#[track_caller]
fn bad_file(path: &str, content: impl FnOnce(&str) -> String, says: &[&str]) {
    let world = World::new();
    let files = world.small().with(path, content(&world.namespace("app")));
    let folder = world.checkout(&files);
    world.commit(&files);
    world.windlass(&["run"]).refuses(65, says);
    world.windlass(&["plan"]).refuses(65, says);
    world.call(&["check", folder.to_str().unwrap(), "--environment", &world.environment]).refuses(65, says);
    super::assert_untouched(&world);
}

#[test]
fn broken_yaml_with_file_and_line() {
    bad_file(
        "app/broken.yaml",
        |_| "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n".into(),
        &["app/broken.yaml:"],
    );
    bad_file(
        "app/broken.yaml",
        |namespace| manifests::config_map(namespace, "a", &[("a", "b")]) + "   worse: indentation\n",
        &["app/broken.yaml:8"],
    );
}

#[test]
fn an_object_without_a_namespace() {
    let content = |_: &str| "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: homeless\n".to_owned();
    bad_file("app/homeless.yaml", content, &["app/homeless.yaml", "homeless", "namespace"]);
}

#[test]
fn the_same_object_twice() {
    bad_file(
        "app/twice.yaml",
        |namespace| manifests::config_map(namespace, "settings", &[]),
        &["app/twice.yaml", "app/settings.yaml", "settings"],
    );
}

#[test]
fn a_generated_name() {
    let content =
        |namespace: &str| manifests::config_map(namespace, "x", &[]).replace("name: x", "generateName: x-");
    bad_file("app/generated.yaml", content, &["app/generated.yaml", "generateName"]);
}

#[test]
fn the_same_key_twice() {
    let content = |namespace: &str| manifests::config_map(namespace, "x", &[("a", "b"), ("a", "c")]);
    bad_file("app/keys.yaml", content, &["app/keys.yaml:8"]);
}

#[test]
fn a_unit_whose_directory_is_missing() {
    bad_file(
        "windlass.yaml",
        |_| manifests::units(&[("base", "base", ""), ("app", "aps", "base")]),
        &["aps"],
    );
}

#[test]
fn an_unknown_key_in_windlass_yaml() {
    bad_file(
        "windlass.yaml",
        |_| "units:\n  - name: app\n    path: app\n    aftre: [base]\n".into(),
        &["windlass.yaml:4:5", "aftre", "after"],
    );
}

#[test]
fn an_unknown_key_in_the_environment_file() {
    let world = World::new();
    world.commit(&world.small());
    let text = std::fs::read_to_string(world.settings_file()).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("\"approval\"")).unwrap();
    world.write_settings_text(&text.replace("\"approval\"", "\"aproval\""));
    for command in ["run", "plan", "drift", "status", "doctor"] {
        world
            .windlass(&[command])
            .refuses(65, &[&format!("environment.yaml:{line}:3"), "aproval", "`approval`"]);
    }
}

#[test]
fn an_environment_file_that_is_not_there() {
    let world = World::new();
    world.call(&["run", "--env", "/nowhere/prd.yaml"]).refuses(65, &["/nowhere/prd.yaml"]);
}

#[test]
fn a_command_line_that_is_wrong() {
    let world = World::new();
    for arguments in [
        &["run", "--evn", "prd.yaml"][..],
        &["run"],
        &["deploy"],
        &["rollback", "--env", "prd.yaml"],
        &["plan", "deploy/"],
        &["run", "--env", "a", "--commit", "b", "--dir", "c"],
    ] {
        let outcome = world.call(arguments);
        outcome.exits(64).says_one_of(&["usage", "--help"]);
        assert_eq!(outcome.stdout, "", "talk on standard output\n{outcome}");
    }
    world.call(&["--help"]).ok();
    world.call(&["--version"]).ok();
}
