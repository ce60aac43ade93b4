//! Commits that are not what they must be.

use windlass_e2e::{Change, World};

use super::assert_untouched;

#[track_caller]
fn refused(change: impl FnOnce(&World) -> Change<'_>, says: &str) {
    let world = World::new();
    world.commit(&world.small());
    let commit = world.commit_as(&world.small().with("note", "one more file"), &change(&world));
    for command in ["verify", "run"] {
        world.windlass(&[command, "--commit", &commit]).refuses(4, &[]).says_one_of(&[says]);
    }
    assert_untouched(&world);
}

#[test]
fn an_unsigned_commit() {
    refused(|world| Change { signer: None, ..world.repository.merged() }, "not signed");
}

#[test]
fn a_commit_signed_by_a_key_that_is_not_pinned() {
    refused(
        |world| Change { signer: Some(&world.keys.stranger.fingerprint), ..world.repository.merged() },
        "pinned",
    );
}

#[test]
fn a_signed_commit_that_is_not_on_the_branch() {
    refused(|world| Change { branch: "feature", ..world.repository.merged() }, "main");
}

#[test]
fn a_commit_of_a_merge_s_side() {
    let world = World::new();
    world.commit(&world.small());
    world.commit(&world.small().with("note", "one more file"));
    let side = world.repository.parent(2);
    world.windlass(&["run", "--commit", &side]).refuses(4, &[]);
    assert_untouched(&world);
}

#[test]
fn a_commit_that_the_repository_does_not_have() {
    let world = World::new();
    world.commit(&world.small());
    let absent = "0123456789abcdef0123456789abcdef01234567";
    let outcome = world.windlass(&["run", "--commit", absent]);
    assert!([4, 65].contains(&outcome.code), "{outcome}");
    outcome.says("0123456789ab");
}

#[test]
fn a_name_in_place_of_a_commit() {
    let world = World::new();
    world.commit(&world.small());
    for name in ["main", "HEAD", "0123456"] {
        let outcome = world.windlass(&["run", "--commit", name]);
        assert!([64, 65].contains(&outcome.code), "{outcome}");
        outcome.says_one_of(&["40"]);
    }
    assert_untouched(&world);
}

#[test]
fn an_older_commit_without_a_rollback() {
    let world = World::new();
    let old = world.deliver(&world.small());
    world.deliver(&world.small().replace("app/settings.yaml", "blue", "green"));
    world.windlass(&["run", "--commit", &old]).refuses(4, &["rollback"]);
    let colour = world.kubectl.field("configmap", &world.namespace("app"), "settings", "/data/colour");
    assert_eq!(colour, "green");
}

#[test]
fn a_directory_where_unsigned_is_refused() {
    let world = World::new();
    let folder = world.checkout(&world.small());
    world.windlass(&["run", "--dir", folder.to_str().unwrap()]).refuses(4, &["unsigned"]);
    assert_untouched(&world);
}

#[test]
fn a_directory_is_delivered_where_unsigned_is_allowed() {
    let mut world = World::new();
    world.configure(|settings| settings["source"]["unsigned"] = "allowed".into());
    let folder = world.checkout(&world.small());
    world.windlass(&["run", "--dir", folder.to_str().unwrap()]).ok();
    assert!(world.kubectl.exists("configmap", &world.namespace("app"), "settings"));
}
