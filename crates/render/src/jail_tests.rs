//! Attempts to break out, with a shell that has libraries in the jail, and with the real kubectl.

use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_model::{SourceTree, TreeFile};

use super::*;

fn tree(files: &[(&str, &str)]) -> SourceTree {
    let mut tree = SourceTree::new();
    for (path, text) in files {
        tree.insert(path, TreeFile { bytes: text.as_bytes().into(), executable: false }).unwrap();
    }
    tree
}

fn shell(walls: Walls, limits: Limits) -> Cell {
    let mut cell = Cell::new(&tree(&[("a/file", "inside")]), Path::new("/bin/sh"), &limits).unwrap();
    cell.walls = walls;
    cell
}

async fn run(walls: Walls, script: &str) -> Result<String, RunError> {
    let output = shell(walls, Limits::default()).run("a", &["-c", script]).await?;
    Ok(String::from_utf8(output.stdout).unwrap())
}

#[expect(clippy::disallowed_methods, reason = "tests are given the kubectl by the environment")]
fn kubectl() -> PathBuf {
    std::env::var_os("WINDLASS_TEST_KUBECTL")
        .map_or_else(|| system("kubectl").expect("no kubectl"), PathBuf::from)
}

const LIBRARIES: Walls = Walls::BubblewrapWithLibraries;

#[tokio::test]
async fn the_tree_is_there_and_read_only() {
    assert_eq!(run(LIBRARIES, "read -r x < file; echo $x; pwd").await.unwrap(), "inside\n/tree/a\n");
    assert!(run(LIBRARIES, "echo x > file").await.is_err());
}

#[tokio::test]
async fn nothing_else_is_there() {
    for path in ["/etc/passwd", "/proc/self/environ", "/root", "/home", "/var", "/tree/../../etc/passwd"] {
        assert_eq!(
            run(LIBRARIES, &format!("test -e {path} || echo gone")).await.unwrap(),
            "gone\n",
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_environment_is_empty() {
    let seen = run(LIBRARIES, "/usr/bin/env").await.unwrap();
    let mut names: Vec<&str> =
        seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.retain(|name| !["PWD", "_", "OLDPWD", "SHLVL"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["HOME", "PATH", "TMPDIR"], "{seen}");
}

#[tokio::test]
async fn there_is_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("(: > /dev/tcp/127.0.0.1/{port}) && echo open || echo closed");
    let script = format!("/usr/bin/bash -c '{connect}' 2>/dev/null");
    assert_eq!(run(Walls::Open, &script).await.unwrap(), "open\n");
    assert_eq!(run(LIBRARIES, &script).await.unwrap(), "closed\n");
}

#[tokio::test]
async fn time_is_limited_and_everything_dies() {
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    for walls in [LIBRARIES, Walls::Open] {
        let error = shell(walls, limits).run("a", &["-c", "/usr/bin/sleep 77777 & wait"]).await.unwrap_err();
        assert_eq!(error, RunError::Time(limits.time));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let living = std::process::Command::new("/usr/bin/pgrep").args(["-f", "sleep 77777"]).output().unwrap();
    assert!(living.stdout.is_empty(), "{}", String::from_utf8_lossy(&living.stdout));
}

#[tokio::test]
async fn output_is_limited() {
    let limits = Limits { output: 1000, ..Limits::default() };
    let error =
        shell(LIBRARIES, limits).run("a", &["-c", "while :; do echo aaaaaaaaaaaa; done"]).await.unwrap_err();
    assert_eq!(error, RunError::Output(1000));
}

#[tokio::test]
async fn memory_is_limited() {
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let script = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
    assert!(matches!(shell(LIBRARIES, limits).run("a", &["-c", script]).await, Err(RunError::Failed(_))));
}

/// What the pre-checks refuse, given to the real kubectl without them.
#[tokio::test]
async fn kubectl_cannot_leave_any_of_the_walls() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("kustomization.yaml"), "resources: [m.yaml]\n").unwrap();
    std::fs::write(outside.path().join("m.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")
        .unwrap();
    let up = format!("resources: ['../../../../../../..{}']\n", outside.path().display());
    let passwd = "configMapGenerator: [{name: a, files: [../../../../../../../../etc/passwd]}]\n";
    let remote = "resources: ['https://127.0.0.1:9/x.yaml']\n";
    let git = "resources: ['https://github.com/kubernetes-sigs/kustomize//examples/helloWorld?ref=v1.0.6']\n";
    let files = [
        ("up/kustomization.yaml", up.as_str()),
        ("passwd/kustomization.yaml", passwd),
        ("remote/kustomization.yaml", remote),
        ("git/kustomization.yaml", git),
        ("good/kustomization.yaml", "resources: [m.yaml]\n"),
        ("good/m.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"),
    ];
    let mut cell = Cell::new(&tree(&files), &kubectl(), &Limits::default()).unwrap();
    for walls in [Walls::Bubblewrap, Walls::Unshare] {
        cell.walls = walls;
        let good = cell.run("good", &["kustomize", "."]).await.unwrap();
        assert!(String::from_utf8(good.stdout).unwrap().contains("kind: Namespace"), "{walls:?}");
        for directory in ["up", "passwd", "remote", "git"] {
            let error = cell.run(directory, &["kustomize", "."]).await.expect_err(directory);
            assert!(matches!(error, RunError::Failed(_)), "{walls:?} {directory}: {error}");
        }
    }
    // The walls are what stops it: without them the directory outside is rendered.
    cell.walls = Walls::Open;
    assert!(cell.run("up", &["kustomize", "."]).await.is_ok());
}

#[test]
fn messages_are_cut_where_objects_begin() {
    let status = std::process::ExitStatus::default();
    let check = |stderr: &str, want: &str| assert_eq!(first_line(stderr, status), want);
    check("# Warning: old\nerror: no such file\nmore\n", "no such file");
    check("Error: json: unsupported value map[data:map[a:hunter2]]\n", "json: unsupported value ");
    check("bwrap: no user namespaces\n", "bwrap: no user namespaces");
    check("", "ended with exit status: 0");
}
