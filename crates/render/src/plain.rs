//! Units without a kustomization.

use windlass_model::SourceTree;

use crate::{RenderError, ResolvedUnit};

/// The names that make a directory a kustomization.
pub(crate) const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns the kustomization file of a directory.
pub(crate) fn kustomization(tree: &SourceTree, directory: &str) -> Option<String> {
    KUSTOMIZATIONS.iter().map(|name| join(directory, name)).find(|path| tree.read(path).is_some())
}

pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Returns the manifests of a unit, in path order: every `*.yaml`, `*.yml` and `*.json` at any depth.
///
/// Left out are the directories of other units, and `windlass.yaml` at the root of the tree. A kustomization in a
/// sub-directory is an error: neither reading its parts as they are nor leaving them out would be what its author
/// means, and what is left out would be pruned.
pub(crate) fn manifests<'a>(
    tree: &'a SourceTree,
    unit: &ResolvedUnit,
    units: &[ResolvedUnit],
) -> (Vec<&'a str>, Vec<RenderError>) {
    let inner: Vec<String> = units
        .iter()
        .filter(|other| other.path != unit.path && is_below(&other.path, &unit.path))
        .map(|other| format!("{}/", other.path))
        .collect();
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for (path, _) in tree.below(&unit.path) {
        if inner.iter().any(|prefix| path.starts_with(prefix)) || path == "windlass.yaml" {
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        if KUSTOMIZATIONS.contains(&name) {
            errors.push(RenderError::NestedKustomization(path.to_owned()));
        } else if path
            .rsplit_once('.')
            .is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml" | "json"))
        {
            files.push(path);
        }
    }
    (files, errors)
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
