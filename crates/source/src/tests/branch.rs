//! Which commits of a branch may be delivered.

use windlass_model::CommitId;

use super::platform::Platform;
use crate::Position;

#[test]
fn a_commit_is_compared_with_what_runs() {
    let platform = Platform::new();
    let ids: Vec<CommitId> = ["one", "two", "three", "four"].map(|text| platform.signed(text)).to_vec();
    let ask = platform.ask();
    let verified = platform.accepts(&ask, Position::First);
    assert_eq!((verified.commit.id(), verified.commit.tip()), (&ids[3], &ids[3]));
    assert_eq!(verified.commit.subject(), "four");
    assert_eq!(verified.commit.author(), "Dev <dev@example.com>");
    assert_eq!(verified.commit.signer().fingerprint, platform.key);
    assert_eq!(verified.commit.repository(), ask.repository);
    assert_eq!(verified.commit.tree(), platform.git(&["rev-parse", "HEAD^{tree}"]));
    assert_eq!(verified.tree.read("apps/a.yaml"), Some(&b"four"[..]));

    platform.accepts(&ask.clone().running(&ids[3]), Position::Same);
    platform.accepts(&ask.clone().running(&ids[0]), Position::Forward { commits: 3 });
    let verified =
        platform.accepts(&ask.clone().commit(&ids[1]).running(&ids[0]), Position::Forward { commits: 1 });
    assert_eq!((verified.commit.id(), verified.commit.tip()), (&ids[1], &ids[3]));
    assert_eq!(verified.tree.read("apps/a.yaml"), Some(&b"two"[..]));

    let back = ask.commit(&ids[1]).running(&ids[3]);
    assert!(platform.refuses(&back, "rollback").contains("2 commits older"));
    platform.accepts(&back.clone().rollback(), Position::Rollback { commits: 2 });
    platform.accepts(&back.running(&ids[0]).rollback(), Position::Forward { commits: 1 });
}

/// A commit that came through a merge is signed by the forge too ("Update README" in its web editor).
#[test]
fn only_a_former_tip_is_on_the_branch() {
    let platform = Platform::new();
    let base = platform.signed("base");
    platform.git(&["checkout", "--quiet", "-b", "feature"]);
    let side = platform.signed("side");
    platform.git(&["checkout", "--quiet", "main"]);
    let merge = platform.merge("feature");
    platform.refuses(&platform.ask().commit(&side), "not-first-parent");
    platform.accepts(&platform.ask().commit(&base), Position::First);
    platform.accepts(&platform.ask().commit(&merge).running(&base), Position::Forward { commits: 1 });
}

/// The forge signs a test merge of every open pull request, on top of the branch's tip.
#[test]
fn an_unmerged_commit_is_not_on_the_branch() {
    let platform = Platform::new();
    let base = platform.signed("base");
    platform.git(&["checkout", "--quiet", "--detach"]);
    let test_merge = platform.signed("unreviewed");
    platform.git(&["update-ref", "refs/pull/1/merge", test_merge.as_str()]);
    platform.git(&["checkout", "--quiet", "main"]);
    platform.refuses(&platform.ask().commit(&test_merge), "not-on-branch");
    platform.refuses(&platform.ask().commit(&test_merge).running(&base), "not-on-branch");

    // Another branch named by an id, and the commit's own id as a branch, change nothing.
    platform.git(&["update-ref", &format!("refs/heads/{base}"), test_merge.as_str()]);
    let verified = platform.accepts(&platform.ask().commit(&base), Position::First);
    assert_eq!(verified.tree.read("apps/a.yaml"), Some(&b"base"[..]));

    // Neither does the object's presence in the copy.
    let raw = platform.git(&["rev-parse", "--git-path", "objects"]);
    let objects = platform.repository().join(raw);
    copy_folder(&objects, &platform.copy().join("objects"));
    platform.refuses(&platform.ask().commit(&test_merge), "not-on-branch");
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_folder(&entry.path(), &target);
        } else if !target.exists() {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_rewritten_branch_is_noticed() {
    let platform = Platform::new();
    let base = platform.signed("base");
    let old = platform.signed("old");
    platform.accepts(&platform.ask().seen(&base), Position::First);
    platform.git(&["reset", "--quiet", "--hard", base.as_str()]);
    platform.refuses(&platform.ask().seen(&old), "tip-went-backwards");
    platform.refuses(&platform.ask().running(&old), "diverged");
    let new = platform.signed("new");
    platform.refuses(&platform.ask().commit(&base).seen(&old), "tip-went-backwards");
    platform.refuses(&platform.ask().running(&old).rollback(), "diverged");
    platform.refuses(&platform.ask().commit(&old), "not-on-branch");
    platform.accepts(&platform.ask().seen(&base).commit(&new), Position::First);
}

#[test]
fn a_rewritten_branch_goes_on_from_the_tip_that_was_accepted() {
    let platform = Platform::new();
    let base = platform.signed("base");
    let old = platform.signed("old");
    platform.git(&["reset", "--quiet", "--hard", base.as_str()]);
    let start = platform.signed("start");
    let next = platform.signed("next");
    let ask = || platform.ask().seen(&start).rewritten_to(&start);
    platform.accepts(&ask(), Position::First);
    platform.accepts(&ask().commit(&start), Position::First);
    platform.refuses(&ask().commit(&base), "before-rewrite");
    platform.accepts(&ask().commit(&base).rollback(), Position::First);
    // Put back, or rewritten once more.
    platform.git(&["reset", "--quiet", "--hard", old.as_str()]);
    platform.refuses(&ask().commit(&old), "tip-went-backwards");
    platform.refuses(&platform.ask().rewritten_to(&next), "tip-went-backwards");
}

/// A merge "the wrong way round" puts what was the branch onto the second-parent side.
#[test]
fn a_foxtrot_merge_is_noticed() {
    let platform = Platform::new();
    platform.signed("base");
    platform.git(&["checkout", "--quiet", "-b", "feature"]);
    platform.signed("side");
    platform.git(&["checkout", "--quiet", "main"]);
    let tip = platform.signed("tip");
    platform.git(&["checkout", "--quiet", "feature"]);
    platform.merge("main");
    platform.git(&["branch", "--quiet", "--force", "main", "feature"]);
    platform.refuses(&platform.ask().seen(&tip), "tip-went-backwards");
    platform.refuses(&platform.ask().running(&tip), "diverged");
}

#[test]
fn only_commits_are_commits() {
    let platform = Platform::new();
    platform.signed("base");
    platform.accepts(&platform.ask(), Position::First);
    platform.git(&["tag", "-a", "-m", "tag", "v1"]);
    let tag = platform.git(&["cat-file", "tag", "v1"]);
    let file = platform.folder.path().join("tag");
    std::fs::write(&file, tag + "\n").unwrap();
    let copy = platform.copy();
    platform.git_in(&copy, &["hash-object", "-t", "tag", "-w", file.to_str().unwrap()]);
    for (name, kind) in [("HEAD^{tree}", "tree"), ("HEAD:apps/a.yaml", "blob"), ("v1", "tag")] {
        let text = platform.refuses(&platform.ask().commit(&platform.id(name)), "not-a-commit");
        assert!(text.ends_with(&format!("is not a commit but a {kind}")), "{text}");
    }
}
