//! What goes wrong on the way to a repository, and what `git` is given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::platform::{Platform, refused};
use crate::Position;

#[test]
fn bad_requests_are_named_before_anything_is_fetched() {
    let platform = Platform::new();
    let check = |repository: &str, branch: &str, want: &str| {
        let mut ask = platform.ask();
        ask.repository = repository.to_owned();
        ask.branch = branch.to_owned();
        ask.git = PathBuf::from("/nonexistent/git");
        platform.refuses(&ask, want)
    };
    for repository in ["/srv/r", "ext::sh -c id", "-u://x", "git@h:r", "http://example.com/r"] {
        check(repository, "main", "bad-address");
    }
    let text = check("https://user:hunter2@example.com/r", "main", "bad-address");
    assert!(!text.contains("hunter2"), "{text}");
    for branch in ["refs/heads/main", "--upload-pack=id", "a:b", "HEAD", ""] {
        check("file:///srv/r", branch, "bad-branch");
    }
    assert!(check("file:///srv/r", "main", "fetch-failed").contains("cannot be started"));
}

#[test]
fn an_unreachable_repository_is_no_refusal() {
    let platform = Platform::new();
    platform.signed("one");
    let mut ask = platform.ask();
    ask.branch = "other".to_owned();
    assert!(platform.refuses(&ask, "bad-branch").contains("no branch `other`"));
    ask = platform.ask();
    ask.repository = "file:///nonexistent/r".to_owned();
    assert!(platform.refuses(&ask, "fetch-failed").contains("git says"));
    ask.repository = "https://hunter2@127.0.0.1:1/r".to_owned();
    let text = platform.refuses(&ask, "fetch-failed");
    assert!(text.contains("https://127.0.0.1:1/r") && !text.contains("hunter2"), "{text}");
}

#[test]
fn a_sha256_repository_is_named() {
    let platform = Platform::new();
    let folder = platform.folder.path().join("sha256");
    platform.git_in(&folder, &["init", "--quiet", "--object-format=sha256", "-b", "main"]);
    platform.git_in(&folder, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let mut ask = platform.ask();
    ask.repository = format!("file://{}", folder.display());
    platform.refuses(&ask, "unsupported-format");
}

#[test]
fn objects_that_git_refuses_are_refused() {
    let platform = Platform::new();
    platform.signed("one");
    let blob = platform.git(&["rev-parse", "HEAD:apps/a.yaml"]);
    let raw = [&b"100644 .git\0"[..], &hex::decode(blob).unwrap()].concat();
    let file = platform.folder.path().join("tree");
    fs::write(&file, raw).unwrap();
    let tree = platform.git(&["hash-object", "-t", "tree", "-w", "--literally", file.to_str().unwrap()]);
    let commit = platform.git(&["commit-tree", "-m", "evil", &tree]);
    platform.git(&["update-ref", "refs/heads/main", &commit]);
    platform.refuses(&platform.ask(), "object-corrupt");
}

/// Git refuses to serve a repository of another user unless a configuration file names it.
#[test]
fn a_local_repository_of_another_user_is_read() {
    let platform = Platform::new();
    platform.signed("one");
    let bare = platform.folder.path().join("bare.git");
    platform.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    for path in [bare, platform.repository()] {
        let given =
            std::process::Command::new("chown").args(["-R", "1234:1234"]).arg(&path).status().unwrap();
        if !given.success() {
            return; // Only root can give files away.
        }
        for end in ["", "/"] {
            let mut ask = platform.ask();
            ask.repository = format!("file://{}{end}", path.display());
            platform.accepts(&ask, Position::First);
        }
    }
}

/// Writes a program that stands in for `git`, and returns its path.
fn program(platform: &Platform, script: &str) -> PathBuf {
    let path = platform.folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn git_and_all_it_started_end_at_the_deadline() {
    let platform = Platform::new();
    let pid_file = platform.folder.path().join("pid");
    let mut ask = platform.ask();
    ask.git = program(&platform, &format!("sleep 1000 & echo $! > {}; wait", pid_file.display()));
    ask.timeout = Duration::from_secs(2);
    assert!(platform.refuses(&ask, "fetch-failed").contains("no end after 2 s"));
    let pid = fs::read_to_string(pid_file).unwrap();
    let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // A killed process may stay as a zombie until its new parent reaps it.
    let gone = || state().is_empty() || state().contains(") Z ");
    for _ in 0..100 {
        if gone() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("still there: {}", state());
}

#[test]
fn git_gets_a_clean_environment_and_hardened_settings() {
    let platform = Platform::new();
    let out = platform.folder.path().join("out");
    let mut ask = platform.ask();
    ask.git =
        program(&platform, &format!("env > {0}; echo \"$@\" >> {0}; cat >> {0}; exit 1", out.display()));
    for (name, value) in [
        ("HOME", "/home/agent"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("GIT_DIR", "/evil"),
        ("GIT_CONFIG_COUNT", "1"),
        ("LD_PRELOAD", "x"),
        ("GIT_PROXY_COMMAND", "x"),
        ("GIT_EXEC_PATH", "x"),
        ("GIT_CONFIG_PARAMETERS", "x"),
        ("GIT_TRACE", "1"),
        ("TOKEN", "hunter2"),
    ] {
        ask.environment.push((name.into(), value.into()));
    }
    platform.refuses(&ask, "fetch-failed");
    let text = fs::read_to_string(out).unwrap();
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .filter(|name| !name.contains(' ') && !matches!(*name, "PWD" | "_" | "SHLVL" | "OLDPWD"))
        .collect();
    names.sort_unstable();
    let want = [
        "GIT_ALLOW_PROTOCOL",
        "GIT_ATTR_NOSYSTEM",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_DIR",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_SSH_COMMAND",
        "GIT_TERMINAL_PROMPT",
        "HOME",
        "LC_ALL",
        "PATH",
        "SSH_AUTH_SOCK",
    ];
    assert_eq!(names, want);
    assert!(text.contains(&format!("GIT_DIR={}", platform.copy().display())), "{text}");
    assert!(text.contains("GIT_ALLOW_PROTOCOL=file\n"), "{text}");
    assert!(text.contains("+refs/heads/main:refs/windlass/tip"), "{text}");
}

/// `url.*.insteadOf` in a person's configuration would silently fetch from somewhere else.
#[test]
fn configuration_of_the_user_does_not_count() {
    let platform = Platform::new();
    platform.signed("one");
    let home = platform.folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join(".gitconfig"), "[url \"file:///nonexistent\"]\n\tinsteadOf = file://\n").unwrap();
    let mut ask = platform.ask();
    ask.environment.push(("HOME".into(), home.into()));
    platform.accepts(&ask, Position::First);
}

#[test]
fn only_one_run_uses_the_copy_at_a_time() {
    let platform = Platform::new();
    platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    let lock = fs::File::open(platform.cache().join("lock")).unwrap();
    lock.lock().unwrap();
    let mut ask = platform.ask();
    ask.timeout = Duration::ZERO;
    assert!(refused(platform.verify(&ask), "fetch-failed").contains("another run"));
    lock.unlock().unwrap();
    platform.accepts(&platform.ask(), Position::First);
}

/// What `git` says is shown without control characters, credentials and endless repetition.
#[test]
fn what_git_says_is_made_harmless() {
    let platform = Platform::new();
    let mut ask = platform.ask();
    let script = r"printf 'fatal: \033[2Jhttps://u:hunter2@h/r\nhint: advice\n' >&2; yes noise | head -c 200000 >&2; exit 128";
    ask.git = program(&platform, script);
    let text = platform.refuses(&ask, "fetch-failed");
    assert!(text.len() < 1000 && !text.contains(['\x1b', '\n']) && !text.contains("hunter2"), "{text}");
}
