//! The files of a delivered tree, held in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Digest;

/// One regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The bytes as Git stores them: no filter, no line-ending conversion.
    pub bytes: Arc<[u8]>,
    /// Whether the file is executable.
    pub executable: bool,
}

/// All regular files of one tree by their path relative to its root, with `/` as separator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceTree {
    files: BTreeMap<String, TreeFile>,
}

/// Says why a file cannot be part of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// The path leaves the tree or is not in normal form.
    #[error("`{0}` is not a path inside the tree")]
    UnsafePath(String),
    /// The path is there already.
    #[error("`{0}` is in the tree twice")]
    Duplicate(String),
}

impl SourceTree {
    /// Returns a tree without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; refuses a path that is absolute, has empty, `.` or `..` parts, or is there already.
    pub fn insert(&mut self, path: &str, file: TreeFile) -> Result<(), TreeError> {
        if path.split('/').any(|part| matches!(part, "" | "." | "..")) || path.contains(['\0', '\\']) {
            return Err(TreeError::UnsafePath(path.to_owned()));
        }
        match self.files.insert(path.to_owned(), file) {
            None => Ok(()),
            Some(_) => Err(TreeError::Duplicate(path.to_owned())),
        }
    }

    /// Returns a file's bytes.
    pub fn read(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| &*file.bytes)
    }

    /// Returns all files with their paths, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &TreeFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Returns the files below a directory, sorted by path; `""` is the root.
    pub fn below<'a>(&'a self, directory: &str) -> impl Iterator<Item = (&'a str, &'a TreeFile)> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let stop = prefix.clone();
        self.files
            .range(prefix..)
            .take_while(move |(path, _)| path.starts_with(&stop))
            .map(|(path, file)| (path.as_str(), file))
    }

    /// Says whether any file lies below a directory.
    pub fn has_directory(&self, directory: &str) -> bool {
        self.below(directory).next().is_some()
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Says whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns a digest over paths, modes and SHA-256 of every file: a second hash beside Git's SHA-1.
    pub fn digest(&self) -> Digest {
        let line = |(path, file): (&String, &TreeFile)| {
            format!("{} {} {path}", Digest::of_bytes(&file.bytes).hex(), u8::from(file.executable))
        };
        let lines: Vec<String> = self.files.iter().map(line).collect();
        Digest::of_bytes(lines.join("\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TreeFile {
        TreeFile { bytes: text.as_bytes().into(), executable: false }
    }

    #[test]
    fn unsafe_paths_are_refused() {
        for path in ["", "/a", "a//b", "./a", "a/../b", "..", "a\\b", "a\0"] {
            assert!(SourceTree::new().insert(path, file("")).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_directory_is_not_its_namesake() {
        let mut tree = SourceTree::new();
        for path in ["apps/a.yaml", "apps/b/c.yaml", "apps-old/d.yaml", "apps.yaml"] {
            tree.insert(path, file(path)).unwrap();
        }
        let below: Vec<&str> = tree.below("apps").map(|(path, _)| path).collect();
        assert_eq!(below, ["apps/a.yaml", "apps/b/c.yaml"]);
        assert!(
            tree.has_directory("apps/b") && !tree.has_directory("apps/a.yaml") && !tree.has_directory("app")
        );
        assert_eq!(tree.below("").count(), 4);
    }

    #[test]
    fn the_digest_covers_path_mode_and_bytes() {
        let tree = |path: &str, text: &str, executable| {
            let mut tree = SourceTree::new();
            tree.insert(path, TreeFile { executable, ..file(text) }).unwrap();
            tree.digest()
        };
        let base = tree("a", "x", false);
        assert!(
            [tree("b", "x", false), tree("a", "y", false), tree("a", "x", true)]
                .iter()
                .all(|other| *other != base)
        );
    }
}
