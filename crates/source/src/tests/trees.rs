//! Trees that Git stores and that cannot be delivered faithfully.

use std::io::Write;
use std::process::{Command, Stdio};

use git2::{ObjectType, Oid};
use tempfile::TempDir;
use windlass_model::SourceTree;

use crate::objects::{Objects, hash};
use crate::refusal::Refusal;
use crate::tree::{self, LIMITS, Limits};

/// A bare repository that takes any object, however malformed.
struct Store {
    folder: TempDir,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("git")
            .args(["init", "--quiet", "--bare", "--template="])
            .arg(folder.path())
            .status()
            .unwrap();
        assert!(made.success());
        Self { folder }
    }

    fn write(&self, kind: ObjectType, bytes: &[u8]) -> Oid {
        let mut child = Command::new("git")
            .arg("--git-dir")
            .arg(self.folder.path())
            .args(["hash-object", "-w", "--literally", "--stdin", "-t", kind.str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let id = Oid::from_str(String::from_utf8(output.stdout).unwrap().trim()).unwrap();
        assert_eq!(id.as_bytes(), hash(kind, bytes));
        id
    }

    fn blob(&self, text: &[u8]) -> Oid {
        self.write(ObjectType::Blob, text)
    }

    fn tree(&self, entries: &[(&str, &[u8], Oid)]) -> Oid {
        let raw: Vec<u8> = entries
            .iter()
            .flat_map(|(mode, name, id)| [mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat())
            .collect();
        self.write(ObjectType::Tree, &raw)
    }

    fn read(&self, id: Oid) -> Result<SourceTree, Refusal> {
        self.read_within(id, LIMITS)
    }

    fn read_within(&self, id: Oid, limits: Limits) -> Result<SourceTree, Refusal> {
        tree::read(&Objects::open(&self.folder.path().join("objects")).unwrap(), id, limits)
    }
}

fn refused(result: Result<SourceTree, Refusal>, path: &str, problem: &str) {
    match result {
        Err(Refusal::UnsafeTree { path: found, problem: why }) => {
            assert_eq!(found, path, "{why}");
            assert!(why.contains(problem), "{why} instead of {problem}");
        }
        other => panic!("{path}: {other:?} instead of {problem}"),
    }
}

#[test]
fn a_usual_tree_is_read_byte_for_byte() {
    let store = Store::new();
    // Attributes that make a checkout change the content.
    let attributes =
        store.blob(b"* text eol=crlf ident working-tree-encoding=UTF-16 export-subst filter=lfs\n");
    let (file, script) = (store.blob(b"$Id$\n$Format:%H$\n\xff\0"), store.blob(b"#!/bin/sh\n"));
    let inner = store.tree(&[("100644", b"a.yaml", file), ("100755", b"run.sh", script)]);
    let root = store.tree(&[
        ("100644", b".gitattributes", attributes),
        ("100644", b"apps-old", file),
        ("100644", b"apps.yaml", file),
        ("40000", b"apps", inner),
    ]);
    let tree = store.read(root).unwrap();
    let found: Vec<(&str, bool)> = tree.files().map(|(path, file)| (path, file.executable)).collect();
    let want = [
        (".gitattributes", false),
        ("apps-old", false),
        ("apps.yaml", false),
        ("apps/a.yaml", false),
        ("apps/run.sh", true),
    ];
    assert_eq!(found, want);
    assert_eq!(tree.read("apps/a.yaml"), Some(&b"$Id$\n$Format:%H$\n\xff\0"[..]));
    assert!(store.read(store.tree(&[])).unwrap().is_empty());
}

#[test]
fn entries_that_are_no_plain_files_are_refused() {
    let store = Store::new();
    let blob = store.blob(b"/etc/passwd");
    for (mode, problem) in [
        ("120000", "symbolic link"),
        ("160000", "submodule"),
        ("100664", "mode is irregular"),
        ("100600", "mode is irregular"),
        ("0100644", "cut off"),
        ("040000", "mode is irregular"),
        ("644", "mode is irregular"),
        ("", "mode is irregular"),
    ] {
        let inner = store.tree(&[(mode, b"x", blob)]);
        let path = if mode == "0100644" { "apps/" } else { "apps/x" };
        refused(store.read(store.tree(&[("40000", b"apps", inner)])), path, problem);
    }
}

#[test]
fn names_that_are_unsafe_are_refused() {
    let store = Store::new();
    let blob = store.blob(b"x");
    for (name, shown) in [
        (&b".."[..], ".."),
        (b".", "."),
        (b"", ""),
        (b".git", ".git"),
        (b".GIT", ".GIT"),
        (b"git~1", "git~1"),
        (b"a/b", "a/b"),
        (b"/etc/passwd", "/etc/passwd"),
        (b"..\\a", "..\\\\a"),
        (b"\x1b[2J", "\\u{1b}[2J"),
        (b"a\nb", "a\\nb"),
        (b"\xff", "\u{fffd}"),
        (".g\u{200c}it".as_bytes(), ".g\\u{200c}it"),
    ] {
        refused(store.read(store.tree(&[("100644", name, blob)])), shown, "its name");
    }
}

#[test]
fn names_that_clash_or_are_out_of_order_are_refused() {
    let store = Store::new();
    let blob = store.blob(b"x");
    let folder = store.tree(&[("100644", b"x", blob)]);
    let check = |entries: &[(&str, &[u8], Oid)], path: &str, problem: &str| {
        refused(store.read(store.tree(entries)), path, problem);
    };
    check(&[("100644", b"a", blob), ("100644", b"a", blob)], "a", "not sorted, or hold a name twice");
    check(&[("100644", b"b", blob), ("100644", b"a", blob)], "a", "not sorted");
    check(&[("40000", b"a", folder), ("100644", b"a.b", blob)], "a.b", "not sorted");
    check(
        &[("100644", b"a", blob), ("100644", b"a.b", blob), ("40000", b"a", folder)],
        "a",
        "differs only in case",
    );
    check(&[("100644", b"A", blob), ("100644", b"a", blob)], "a", "differs only in case");
    check(&[("100644", "Ü".as_bytes(), blob), ("100644", "ü".as_bytes(), blob)], "ü", "differs only in case");
}

#[test]
fn pointers_of_git_lfs_are_refused() {
    let store = Store::new();
    for pointer in [
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        "version https://hawser.github.com/spec/v1\n",
    ] {
        let blob = store.blob(pointer.as_bytes());
        refused(store.read(store.tree(&[("100644", b"a.bin", blob)])), "a.bin", "LFS");
    }
    let text = store.blob(b"# version https://git-lfs.github.com/spec/v1\n");
    assert!(store.read(store.tree(&[("100644", b"a.md", text)])).is_ok());
}

#[test]
fn a_tree_has_limits() {
    let store = Store::new();
    let blob = store.blob(&[b'x'; 100]);
    let limits = Limits { bytes: 250, entries: 5, depth: 3 };
    let check = |id: Oid, problem: &str| match store.read_within(id, limits) {
        Err(Refusal::UnsafeTree { problem: why, .. }) => assert!(why.contains(problem), "{why}"),
        other => panic!("{other:?} instead of {problem}"),
    };
    let two = store.tree(&[("100644", b"a", blob), ("100644", b"b", blob)]);
    assert!(store.read_within(two, limits).is_ok());
    check(
        store.tree(&[("100644", b"a", blob), ("100644", b"b", blob), ("100644", b"c", blob)]),
        "larger than 250 bytes",
    );
    let empty = store.blob(b"");
    let names: Vec<Vec<u8>> = (b'a'..=b'f').map(|letter| vec![letter]).collect();
    let many: Vec<_> = names.iter().map(|name| ("100644", name.as_slice(), empty)).collect();
    assert!(store.read_within(store.tree(&many[..5]), limits).is_ok());
    check(store.tree(&many), "more than 5 files");
    let mut nested = store.tree(&[("100644", b"a", empty)]);
    for _ in 0..3 {
        nested = store.tree(&[("40000", b"d", nested)]);
    }
    assert!(store.read_within(nested, limits).is_ok());
    check(store.tree(&[("40000", b"d", nested)]), "more than 3 deep");
}

/// Ten folders of ten folders, each the same object, nine levels deep: a billion entries in 4 KiB.
#[test]
fn a_tree_that_repeats_itself_ends_early() {
    let store = Store::new();
    let mut id = store.tree(&[]);
    let names: Vec<Vec<u8>> = (b'a'..=b'j').map(|letter| vec![letter]).collect();
    for _ in 0..9 {
        let entries: Vec<_> = names.iter().map(|name| ("40000", name.as_slice(), id)).collect();
        id = store.tree(&entries);
    }
    refused(store.read(id), "", "more than 50000 files and folders");
}

#[test]
fn missing_and_mistaken_objects_are_corruption() {
    let store = Store::new();
    let blob = store.blob(b"x");
    let missing = Oid::from_str(&"1".repeat(40)).unwrap();
    let check = |id: Oid| match store.read(id) {
        Err(refusal @ Refusal::ObjectCorrupt { .. }) => assert_eq!(refusal.code(), "object-corrupt"),
        other => panic!("{other:?}"),
    };
    check(missing);
    check(blob);
    check(store.tree(&[("100644", b"a", missing)]));
    check(store.tree(&[("40000", b"a", blob)]));
    check(store.tree(&[("100644", b"a", store.tree(&[]))]));
    let cut = store.write(ObjectType::Tree, b"100644 a\x00123");
    refused(store.read(cut), "", "cut off");
}
