//! Directories.
use std::path::Path;

use windlass_model::SourceTree;

use crate::RenderError;

/// Reads a directory of the agent into memory, for `windlass render DIR`.
pub fn read_directory(path: &Path) -> Result<SourceTree, RenderError> {
    let _ = path;
    Ok(SourceTree::new())
}
