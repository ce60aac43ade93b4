//! Directories of this machine, read without Git.

use std::path::Path;

use windlass_model::{ExitCode, SourceTree, UnitName};
use windlass_render::ResolvedUnit;

use crate::error::CommandError;

/// Reads the repository that a directory belongs to, and returns the directory as its only unit.
///
/// A kustomization may use other folders of its repository, so the whole of it is read: `root`, or else the
/// nearest folder above that holds `.git` or `windlass.yaml`, or else the directory alone.
pub(crate) fn local_unit(
    dir: &Path,
    root: Option<&Path>,
) -> Result<(SourceTree, ResolvedUnit), CommandError> {
    let dir = dir.canonicalize().map_err(|error| CommandError::file(dir, &error))?;
    let is_root = |folder: &&Path| folder.join(".git").exists() || folder.join("windlass.yaml").is_file();
    let root = match root {
        Some(root) => root.canonicalize().map_err(|error| CommandError::file(root, &error))?,
        None => dir.ancestors().find(is_root).unwrap_or(&dir).to_path_buf(),
    };
    let path = dir.strip_prefix(&root).ok().and_then(Path::to_str).ok_or_else(|| {
        let what = format!("{} is not inside {}", dir.display(), root.display());
        CommandError::new(ExitCode::Usage, what, "name the folder that holds the directory with --root")
    })?;
    let name = UnitName::new("directory").unwrap_or_else(|| unreachable!("the name is a DNS label"));
    let unit = ResolvedUnit { name, path: path.to_owned() };
    Ok((windlass_render::read_directory(&root)?, unit))
}
