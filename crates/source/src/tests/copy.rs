//! The private copy: whatever lies in it, the result does not change.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::platform::Platform;
use crate::Position;

#[test]
fn what_windlass_did_not_put_there_is_refused() {
    let platform = Platform::new();
    let id = platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    let check = |path: &str, plant: &dyn Fn(&Path)| {
        let saved = Saved::of(&platform.copy());
        let target = platform.copy().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        plant(&target);
        let text = platform.refuses(&platform.ask(), "hostile-repository");
        assert!(text.contains("repository.git"), "{text}");
        saved.put_back();
        platform.accepts(&platform.ask(), Position::First);
    };
    let write = |text: &str| {
        let text = text.to_owned();
        move |path: &Path| fs::write(path, &text).unwrap()
    };
    check(&format!("refs/replace/{id}"), &write(&format!("{id}\n")));
    check("refs/heads/main", &write(&format!("{id}\n")));
    check("refs/windlass/other", &write(&format!("{id}\n")));
    check("info/grafts", &write(&format!("{id}\n")));
    check("shallow", &write(&format!("{id}\n")));
    check("packed-refs", &write(&format!("{id} refs/replace/{id}\n")));
    check("objects/info/alternates", &write("/tmp\n"));
    check("objects/info/commit-graph", &write(""));
    check("objects/pack/pack-1.promisor", &write(""));
    check("objects/pack/multi-pack-index", &write(""));
    check("hooks/reference-transaction", &write("#!/bin/sh\n"));
    check("commondir", &write("/tmp\n"));
    check("config", &write("[core]\n\tbare = true\n\tfsmonitor = id\n"));
    check("HEAD", &write("ref: refs/heads/main\n"));
    check("objects/pack", &|path| {
        fs::rename(path, path.parent().unwrap().parent().unwrap().parent().unwrap().join("moved")).unwrap();
        std::os::unix::fs::symlink("../../moved", path).unwrap();
    });
}

/// A copy of a folder, to undo what a test did to it.
struct Saved {
    folder: PathBuf,
    copy: tempfile::TempDir,
}

impl Saved {
    fn of(folder: &Path) -> Self {
        let copy = tempfile::tempdir().unwrap();
        assert!(shell("cp", &["-a", &format!("{}/.", folder.display()), copy.path().to_str().unwrap()]));
        Self { folder: folder.to_owned(), copy }
    }

    fn put_back(self) {
        fs::remove_dir_all(&self.folder).unwrap();
        let _moved = fs::remove_dir_all(self.folder.parent().unwrap().join("moved"));
        assert!(shell(
            "cp",
            &["-a", &format!("{}/.", self.copy.path().display()), self.folder.to_str().unwrap()]
        ));
    }
}

fn shell(program: &str, args: &[&str]) -> bool {
    std::process::Command::new(program).args(args).status().unwrap().success()
}

#[test]
fn what_a_killed_git_leaves_behind_is_removed() {
    let platform = Platform::new();
    platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    let leftovers =
        ["refs/windlass/tip.lock", "packed-refs.lock", "objects/pack/tmp_pack_x", "objects/pack/tmp_idx_x"];
    for path in leftovers {
        fs::write(platform.copy().join(path), "").unwrap();
    }
    platform.signed("two");
    platform.accepts(&platform.ask(), Position::First);
    assert!(leftovers.iter().all(|path| !platform.copy().join(path).exists()));
}

#[test]
fn nobody_else_may_write_to_it() {
    let platform = Platform::new();
    platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    for path in [platform.cache(), platform.copy()] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).unwrap();
        assert!(platform.refuses(&platform.ask(), "hostile-repository").contains("other users may write"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    // Only root can give files away.
    if std::os::unix::fs::chown(platform.copy(), Some(1234), None).is_ok() {
        assert!(platform.refuses(&platform.ask(), "hostile-repository").contains("belongs to user 1234"));
    }
}

#[test]
fn a_planted_lock_file_is_not_followed() {
    let platform = Platform::new();
    platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    let (lock, victim) = (platform.cache().join("lock"), platform.folder.path().join("victim"));
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&victim, &lock).unwrap();
    platform.refuses(&platform.ask(), "cache-failed");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

/// A changed byte in a pack is noticed, or lies in an object that is not read; no other content results.
#[test]
fn corruption_never_changes_the_result() {
    let platform = Platform::new();
    platform.signed(&"one ".repeat(500));
    let good = platform.accepts(&platform.ask(), Position::First);
    let packs = platform.copy().join("objects/pack");
    let pack = fs::read_dir(&packs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "pack"));
    let pack = pack.unwrap();
    let bytes = fs::read(&pack).unwrap();
    fs::set_permissions(&pack, fs::Permissions::from_mode(0o600)).unwrap();
    let mut noticed = 0;
    for at in (12..bytes.len()).step_by(bytes.len() / 12) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&pack, &changed).unwrap();
        match platform.verify(&platform.ask()) {
            Ok(verified) => assert_eq!(verified, good, "byte {at}"),
            Err(error) => {
                noticed += 1;
                assert!(matches!(error.code(), "object-corrupt" | "fetch-failed"), "byte {at}: {error}");
            }
        }
    }
    assert!(noticed > 6, "{noticed}");
}

#[test]
fn many_packs_are_fetched_anew() {
    let platform = Platform::new();
    platform.signed("one");
    platform.accepts(&platform.ask(), Position::First);
    let packs = platform.copy().join("objects/pack");
    for number in 0..70 {
        fs::write(packs.join(format!("pack-{number}.pack")), "").unwrap();
    }
    platform.accepts(&platform.ask(), Position::First);
    assert!(fs::read_dir(&packs).unwrap().count() < 10);
}
