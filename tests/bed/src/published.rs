//! Manifests that others publish in Go modules, read from the Go toolchain's cache when a test runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns where the Go toolchain keeps a module, `NAME@VERSION`.
pub fn module(name: &str) -> PathBuf {
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the Go toolchain is needed");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    PathBuf::from(answer["Dir"].as_str().unwrap_or_else(|| panic!("{answer}")))
}

/// Reads the documents of a file, or of all YAML files below a folder, each with its file. Files that are no YAML are
/// left out: some of what is published is meant to be wrong.
pub fn documents(path: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for file in files(path) {
        for document in windlass_yaml::parse(&std::fs::read(&file).unwrap()).unwrap_or_default() {
            found.push((file.clone(), document.value));
        }
    }
    found
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_wanted = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|end| end == "yaml");
    entries.into_iter().filter(is_wanted).flat_map(|entry| files(&entry)).collect()
}
