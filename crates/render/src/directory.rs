//! Directories of the agent, for commands that work without a commit.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use windlass_model::{SourceTree, TreeFile};

use crate::RenderError;

const MAX_FILES: usize = 100_000;
const MAX_FILE: u64 = 64 << 20;
const MAX_TOTAL: u64 = 512 << 20;

/// Reads a directory of the agent into memory, for `windlass render DIR`.
///
/// `.git` is left out. At most 100 000 files, 64 MiB each, 512 MiB together.
///
/// # Errors
///
/// On symbolic links (their target may lie outside), anything else that is neither file nor directory, names that
/// are not UTF-8, and whatever is beyond the limits.
pub fn read_directory(path: &Path) -> Result<SourceTree, RenderError> {
    let mut walk = Walk { tree: SourceTree::new(), total: 0 };
    walk.enter(path, "")?;
    Ok(walk.tree)
}

struct Walk {
    tree: SourceTree,
    total: u64,
}

fn wrong(path: &Path, message: &dyn std::fmt::Display) -> RenderError {
    RenderError::Directory { path: path.display().to_string(), message: message.to_string() }
}

impl Walk {
    fn enter(&mut self, directory: &Path, inside: &str) -> Result<(), RenderError> {
        for entry in fs::read_dir(directory).map_err(|error| wrong(directory, &error))? {
            let entry = entry.map_err(|error| wrong(directory, &error))?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| wrong(&path, &"the name is not UTF-8"))?;
            if name == ".git" {
                continue;
            }
            let inside = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
            let kind = entry.file_type().map_err(|error| wrong(&path, &error))?;
            if kind.is_dir() {
                self.enter(&path, &inside)?;
            } else if kind.is_file() {
                self.take(&path, &inside)?;
            } else if kind.is_symlink() {
                return Err(wrong(&path, &"a symbolic link, which is never followed"));
            } else {
                return Err(wrong(&path, &"neither a file nor a directory"));
            }
        }
        Ok(())
    }

    fn take(&mut self, path: &Path, inside: &str) -> Result<(), RenderError> {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| wrong(path, &error))?;
        let executable = file.metadata().is_ok_and(|metadata| is_executable(&metadata));
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| wrong(path, &error))?;
        let size = bytes.len() as u64;
        self.total += size;
        if size > MAX_FILE || self.total > MAX_TOTAL || self.tree.len() >= MAX_FILES {
            return Err(wrong(path, &"too much: at most 100000 files, 64 MiB each, 512 MiB together"));
        }
        let file = TreeFile { bytes: bytes.into(), executable };
        self.tree.insert(inside, file).map_err(|error| wrong(path, &error))
    }
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}
