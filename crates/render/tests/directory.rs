//! Directories of the agent.

use std::fs;

use windlass_render::read_directory;

#[test]
fn regular_files_without_git() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("a/b.yaml", "x"), (".git/config", "secret"), ("a/.git/x", "y"), ("c", "")] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let tree = read_directory(folder.path()).unwrap();
    assert_eq!(tree.files().map(|(path, _)| path).collect::<Vec<_>>(), ["a/b.yaml", "c"]);
    assert_eq!(tree.read("a/b.yaml"), Some(&b"x"[..]));
}

#[test]
fn symbolic_links_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("a.yaml")).unwrap();
    let error = read_directory(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("a.yaml: a symbolic link, which is never followed"), "{error}");
}

#[test]
fn a_missing_directory_is_named() {
    let error = read_directory(std::path::Path::new("/nonexistent")).unwrap_err();
    assert!(error.to_string().starts_with("/nonexistent: "), "{error}");
}
