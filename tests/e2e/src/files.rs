//! The content of a repository.

use std::collections::BTreeMap;
use std::path::Path;

/// Files by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// Returns no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a folder.
    pub fn load(folder: &Path) -> Self {
        let mut files = Self::new();
        files.read_into(folder, "");
        files
    }

    fn read_into(&mut self, folder: &Path, prefix: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                self.read_into(&entry.path(), &format!("{path}/"));
            } else {
                self.0.insert(path, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }

    /// Returns the files with one more, or with another content of it.
    #[must_use]
    pub fn with(mut self, path: &str, content: impl Into<String>) -> Self {
        self.0.insert(path.to_owned(), content.into());
        self
    }

    /// Returns the files without one.
    #[must_use]
    #[track_caller]
    pub fn without(mut self, path: &str) -> Self {
        assert!(self.0.remove(path).is_some(), "no file {path}");
        self
    }

    /// Returns the files with a text replaced in one of them.
    #[must_use]
    #[track_caller]
    pub fn replace(mut self, path: &str, from: &str, to: &str) -> Self {
        let content = self.0.get_mut(path).unwrap_or_else(|| panic!("no file {path}"));
        assert!(content.contains(from), "{path} does not contain `{from}`");
        *content = content.replace(from, to);
        self
    }

    /// Returns the files with every path and every content changed.
    #[must_use]
    pub fn map(self, change: impl Fn(&str) -> String) -> Self {
        Self(self.0.into_iter().map(|(path, content)| (change(&path), change(&content))).collect())
    }

    /// Returns the content of one file.
    #[track_caller]
    pub fn content(&self, path: &str) -> &str {
        self.0.get(path).unwrap_or_else(|| panic!("no file {path}"))
    }

    /// Returns paths and contents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.as_str()))
    }

    /// Writes the files into a folder.
    pub fn write_to(&self, folder: &Path) {
        for (path, content) in &self.0 {
            let file = folder.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
    }
}
