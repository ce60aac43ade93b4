//! Every command: text, JSON, exit code.

use serde_json::Value;
use windlass_e2e::{Outcome, World};

/// Expects one JSON document with the name of the exit code.
#[track_caller]
fn json(outcome: &Outcome, code: i32, name: &str) -> Value {
    let document = outcome.exits(code).json();
    assert_eq!(document["outcome"], name, "{outcome}");
    document
}

#[test]
fn commands_about_an_environment_work_before_and_after_the_first_delivery() {
    let world = World::new();
    let commit = world.commit(&world.small());
    for command in ["status", "history", "lock", "gate", "verify", "doctor"] {
        let text = world.windlass(&[command]);
        assert!(!text.ok().stdout.is_empty(), "{text}");
        json(&world.windlass(&[command, "--output", "json"]), 0, "ok");
    }
    json(&world.windlass(&["run", "--output", "json"]), 0, "ok");
    let history = json(&world.windlass(&["history", "--output", "json"]), 0, "ok");
    let run = history["runs"][0]["id"].as_str().unwrap_or_else(|| panic!("{history:#}"));
    world.windlass(&["history"]).ok().says(run).says(&commit[..12]);
    world.windlass(&["history", "--limit", "1"]).ok().says(run);
    world.windlass(&["status"]).ok().says(&commit[..12]);
    let status = json(&world.windlass(&["status", "--output", "json"]), 0, "ok");
    assert!(status.to_string().contains(&commit), "{status:#}");
    world.windlass(&["show", run]).ok().says(run).says(&commit[..12]).says("ci-agent");
    let shown = json(&world.windlass(&["show", run, "--output", "json"]), 0, "ok");
    assert!(shown.to_string().contains(&commit), "{shown:#}");
    world.windlass(&["show", "20200101-000000-aaaa"]).refuses(65, &["20200101-000000-aaaa"]);
    world.windlass(&["verify", "--commit", &commit]).ok().says(&world.keys.release.fingerprint[24..]);
}

#[test]
fn failures_are_json_as_well() {
    let mut world = World::new();
    world.commit(&world.small());
    json(&world.windlass(&["plan", "--output", "json", "--detailed-exitcode"]), 2, "changes");
    world.configure(|settings| settings["approval"]["required"] = "always".into());
    json(&world.windlass(&["run", "--output", "json"]), 3, "approval-required");
    world.configure(|settings| settings["source"]["keys"][0]["fingerprint"] = "AB".repeat(20).into());
    let refused = world.windlass(&["run", "--output", "json"]);
    assert!([4, 65].contains(&refused.code), "{refused}");
    assert!(refused.json()["outcome"].is_string(), "{refused}");
    world.configure(|settings| settings["source"]["repository"] = "file:///nowhere.git".into());
    world.configure(|settings| settings["source"]["keys"][0]["fingerprint"] = world_fingerprint().into());
    let unreadable = world.windlass(&["run", "--output", "json"]);
    assert!(unreadable.json()["outcome"].is_string(), "{unreadable}");
}

#[test]
fn a_command_line_that_cannot_be_read_is_json_as_well() {
    let world = World::new();
    let refused = json(&world.call(&["plan", "--nope", "--output", "json"]), 64, "usage");
    assert_eq!(refused["error"]["what"], "unexpected argument '--nope' found", "{refused:#}");
    world.call(&["plan", "--nope"]).exits(64).says("unexpected argument").says("--help");
    world.call(&["deliver\n::error::x"]).exits(64).never_says("\n::error");
}

fn world_fingerprint() -> String {
    windlass_e2e::Keys::shared().release.fingerprint.clone()
}

#[test]
fn rendering_and_checking_need_no_cluster() {
    let world = World::new();
    let folder = world.checkout(&world.small());
    let (folder, environment) = (folder.to_str().unwrap(), world.environment.as_str());
    let unit = format!("{folder}/app");
    world.call(&["render", &unit]).ok().says("kind: ConfigMap").says("blue");
    json(&world.call(&["render", &unit, "--output", "json"]), 0, "ok");
    world
        .call(&["render", folder, "--environment", environment])
        .ok()
        .says("settings")
        .says("kind: Namespace");
    world.call(&["check", folder, "--environment", environment, "--environment", "other"]).ok();
    json(&world.call(&["check", folder, "--environment", environment, "--output", "json"]), 0, "ok");
}

#[test]
fn a_commit_is_verified_without_an_environment_file() {
    let world = World::new();
    let commit = world.commit(&world.small());
    let url = world.repository.url();
    let key = world.keys.release.file.to_str().unwrap();
    let verify = ["verify", "--repo", &url, "--branch", "main", "--keys", key];
    world.call(&verify).ok().says(&commit[..12]);
    let stranger = world.keys.stranger.file.to_str().unwrap();
    let verify = ["verify", "--repo", &url, "--branch", "main", "--commit", &commit, "--keys", stranger];
    world.call(&verify).refuses(4, &[&commit[..12]]);
}

#[test]
fn doctor_names_the_right_that_is_missing() {
    let mut world = World::new();
    world.commit(&world.small());
    world.windlass(&["doctor"]).ok().says("windlass-run");
    world.sign_in_as("viewer");
    let doctor = world.windlass(&["doctor"]);
    assert_ne!(doctor.code, 0, "{doctor}");
    doctor.says_one_of(&["configmaps", "secrets", "namespaces"]);
}

#[test]
fn completions_and_manual_pages_are_written() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        world.call(&["completions", shell]).ok().says("rollback");
    }
    let folder = world.path("man");
    world.call(&["man", "--out", folder.to_str().unwrap()]).ok();
    let pages: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert!(pages.len() > 15, "{pages:?}");
    assert!(folder.join("windlass.1").is_file() && folder.join("windlass-rollback.1").is_file());
}

#[test]
fn colour_is_never_written_to_a_pipe() {
    let world = World::new();
    world.commit(&world.small());
    world.windlass(&["plan"]).ok().never_says("\u{1b}[");
    world.windlass(&["run", "--verbose"]).ok().never_says("\u{1b}[");
}
