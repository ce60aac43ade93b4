//! Units.
use windlass_model::{SourceTree, UnitName};
use windlass_settings::Repository;

use crate::RenderError;

/// A unit with its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedUnit {
    /// The unit's name.
    pub name: UnitName,
    /// The directory inside the tree; `""` is the root.
    pub path: String,
}

/// Returns the units of a tree in the order in which they are applied.
pub fn units(tree: &SourceTree, repository: &Repository, environment: &str) -> Result<Vec<ResolvedUnit>, RenderError> {
    let _ = (tree, repository, environment);
    Ok(Vec::new())
}
