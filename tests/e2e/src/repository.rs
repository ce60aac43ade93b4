//! A Git repository with a protected branch, as a forge would keep it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use crate::{Files, Keys};

/// A bare repository and the clone from which commits are pushed to it.
#[derive(Debug)]
pub struct Repository {
    folder: TempDir,
    keys: Arc<Keys>,
}

/// How a commit comes to be.
#[derive(Debug, Clone)]
pub struct Change<'a> {
    /// The branch it is pushed to.
    pub branch: &'a str,
    /// The author's address.
    pub author: &'a str,
    /// The fingerprint of the key that signs it, if it is signed.
    pub signer: Option<&'a str>,
    /// The first line of the message.
    pub subject: &'a str,
}

impl Repository {
    /// Makes an empty repository.
    pub fn new(keys: Arc<Keys>) -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap(), keys };
        repository.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../bare"]);
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Returns the address from which Windlass fetches.
    pub fn url(&self) -> String {
        format!("file://{}", self.folder.path().join("bare").display())
    }

    /// Returns the folder to serve: the repository is `bare` in it.
    pub fn served_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the change that a forge makes when a pull request is merged.
    pub fn merged(&self) -> Change<'_> {
        Change {
            branch: "main",
            author: "developer@example.com",
            signer: Some(&self.keys.release.fingerprint),
            subject: "Merge a change",
        }
    }

    /// Commits exactly these files on a branch of its own and merges it; returns the merge's id.
    ///
    /// The first commit of the protected branch has no parent to merge with, all later ones are merges.
    pub fn commit(&self, files: &Files, change: &Change<'_>) -> String {
        let work = self.work();
        for entry in std::fs::read_dir(&work).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with(".git") {
                std::fs::remove_dir_all(path).unwrap();
            } else if path.is_file() {
                std::fs::remove_file(path).unwrap();
            }
        }
        files.write_to(&work);
        self.git(&["add", "--all"]);
        let tree = self.git(&["write-tree"]);
        let author = format!("GIT_AUTHOR_EMAIL={}", change.author);
        let main = self.tip("main");
        let parents: Vec<String> = match &main {
            None => Vec::new(),
            Some(main) => {
                let side = self.git_with(&[&author], &["commit-tree", &tree, "-p", main, "-m", "A change"]);
                vec![main.clone(), side]
            }
        };
        let mut arguments = vec!["commit-tree".to_owned(), tree, "-m".to_owned(), change.subject.to_owned()];
        arguments.extend(parents.into_iter().flat_map(|parent| ["-p".to_owned(), parent]));
        arguments.extend(change.signer.map(|key| format!("-S{key}")));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let commit = self.git_with(&[&author], &arguments);
        self.git(&["push", "--quiet", "../bare", &format!("{commit}:refs/heads/{}", change.branch)]);
        commit
    }

    /// Takes the protected branch back to an earlier commit, as a forced push does.
    pub fn rewind(&self, commit: &str) {
        self.git(&["push", "--quiet", "--force", "../bare", &format!("{commit}:refs/heads/main")]);
    }

    /// Returns the tip of a branch, if there is one.
    pub fn tip(&self, branch: &str) -> Option<String> {
        let listing = self.git(&["ls-remote", "../bare", &format!("refs/heads/{branch}")]);
        listing.split_whitespace().next().map(str::to_owned)
    }

    /// Returns a parent of the protected branch's tip, counted from 1.
    pub fn parent(&self, number: usize) -> String {
        let tip = self.tip("main").unwrap();
        self.git(&["rev-parse", &format!("{tip}^{number}")])
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_with(&[], arguments)
    }

    fn git_with(&self, variables: &[&str], arguments: &[&str]) -> String {
        std::fs::create_dir_all(self.work()).unwrap();
        let mut git = Command::new("git");
        git.current_dir(self.work()).args(arguments);
        isolate(&mut git, self.folder.path(), self.keys.gnupg_home());
        git.envs(variables.iter().filter_map(|pair| pair.split_once('=')));
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// Nothing of the machine's Git configuration takes part.
fn isolate(git: &mut Command, home: &Path, gnupg: &Path) {
    git.env("HOME", home)
        .env("GNUPGHOME", gnupg)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Developer")
        .env("GIT_AUTHOR_EMAIL", "developer@example.com")
        .env("GIT_COMMITTER_NAME", "Forge")
        .env("GIT_COMMITTER_EMAIL", "forge@example.com");
}
