//! Fetching over the network: the real `git` and `ssh` against a server with real keys and certificates.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;
use windlass_e2e::{GitHost, World};

/// A world whose repository is served by a forge, and its signed commit.
fn served() -> (World, GitHost, String) {
    let world = World::new();
    let commit = world.commit(&world.small());
    let host = GitHost::start(world.repository.served_folder());
    (world, host, commit)
}

/// Writes a program that prints a password, as `GIT_ASKPASS` wants it.
fn askpass(world: &World, password: &str) -> PathBuf {
    let path = world.path("askpass");
    std::fs::write(&path, format!("#!/bin/sh\necho {password}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn a_commit_is_fetched_over_https() {
    let (mut world, host, commit) = served();
    let key = world.keys.release.file.clone();
    let verify = |world: &World, path: &str| {
        let url = format!("{}/{path}", host.https);
        world.call(&["verify", "--repo", &url, "--branch", "main", "--keys", key.to_str().unwrap()])
    };
    // Nobody vouches for the server's certificate yet.
    verify(&world, "bare").refuses(69, &["certificate"]);

    world.set_variable("GIT_SSL_CAINFO", &host.certificate());
    verify(&world, "bare").ok().says(&commit[..12]);
    verify(&world, "nothing").refuses(69, &["/nothing"]);
    // A redirection could lead to another repository than the one that the agent names.
    verify(&world, "moved/bare").refuses(69, &["/moved/bare"]);

    // No password: nobody is asked for one, and the call ends.
    verify(&world, "private/bare").refuses(69, &["/private/bare"]);
    for (password, code) in [("tr0ub4dor", 69), ("correct-horse-battery", 0)] {
        let program = askpass(&world, password);
        world.set_variable("GIT_ASKPASS", &program);
        verify(&world, "private/bare").exits(code).never_says(password);
    }
}

#[test]
fn a_commit_is_delivered_over_ssh() {
    let (mut world, host, commit) = served();
    let address = format!("{}/bare", host.ssh);
    world.configure(|settings| settings["source"]["repository"] = json!(address));

    // An unknown server is not trusted on first use: it may be anybody.
    let nobody = world.path("no-known-hosts");
    world.set_variable("GIT_SSH_COMMAND", &host.ssh_command(&nobody));
    world.windlass(&["run"]).refuses(69, &["Host key verification failed"]);

    world.set_variable("GIT_SSH_COMMAND", &host.ssh_command(&host.known_hosts()));
    world.windlass(&["run"]).ok().says(&commit[..12]);
    world.windlass(&["verify"]).ok().says(&world.keys.release.fingerprint[24..]);
}

/// What Windlass itself tells `ssh`: neither a question nor trust on first use.
#[test]
fn an_unknown_ssh_server_is_refused_without_any_configuration() {
    let (mut world, host, _) = served();
    let address = format!("{}/bare", host.ssh);
    world.configure(|settings| settings["source"]["repository"] = json!(address));
    world.windlass(&["run"]).refuses(69, &["Host key verification failed"]);
}
