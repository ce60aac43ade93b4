//! How a tree is cut into units, and their order.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{SourceTree, UnitName};
use windlass_settings::{Repository, UnitSpec};

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
///
/// `windlass.yaml` decides where it names units: they keep its order unless `after` says otherwise. Without units
/// the convention holds: `infrastructure/stateful` as `infrastructure`, then every
/// `apps/<app>/stateful/<environment>` as `<app>`, sorted by name.
///
/// # Errors
///
/// On names that are no DNS labels or are taken twice, unknown names and cycles in `after`, paths that leave the
/// tree, do not exist or belong to two units, and when there is no unit at all.
pub fn units(
    tree: &SourceTree,
    repository: &Repository,
    environment: &str,
) -> Result<Vec<ResolvedUnit>, RenderError> {
    let units = if repository.units.is_empty() {
        by_convention(tree, environment)?
    } else {
        by_file(tree, &repository.units, environment)?
    };
    let mut names = BTreeSet::new();
    if let Some(unit) = units.iter().find(|unit| !names.insert(unit.name.clone())) {
        return Err(wrong(
            format!("two units are named `{}`", unit.name),
            "give every unit a name of its own",
        ));
    }
    let mut paths = BTreeMap::new();
    for unit in &units {
        if let Some(other) = paths.insert(&unit.path, &unit.name) {
            let message = format!("units `{other}` and `{}` have the same path `{}`", unit.name, unit.path);
            return Err(wrong(message, "every object belongs to exactly one unit: keep one of the two"));
        }
    }
    if units.is_empty() {
        let message = format!("there is no unit for the environment `{environment}`");
        let hint = "name the units in windlass.yaml, or use infrastructure/stateful and apps/<app>/stateful/<environment>";
        return Err(wrong(message, hint));
    }
    Ok(units)
}

fn wrong(message: String, hint: &str) -> RenderError {
    RenderError::Units { message, hint: hint.to_owned() }
}

fn by_convention(tree: &SourceTree, environment: &str) -> Result<Vec<ResolvedUnit>, RenderError> {
    let mut units = Vec::new();
    if tree.has_directory("infrastructure/stateful") {
        units
            .push(ResolvedUnit { name: name("infrastructure")?, path: "infrastructure/stateful".to_owned() });
    }
    let apps: BTreeSet<&str> = tree.below("apps").filter_map(|(path, _)| path.split('/').nth(1)).collect();
    for app in apps {
        let path = format!("apps/{app}/stateful/{environment}");
        if tree.has_directory(&path) {
            units.push(ResolvedUnit { name: name(app)?, path });
        }
    }
    Ok(units)
}

fn by_file(
    tree: &SourceTree,
    specs: &[UnitSpec],
    environment: &str,
) -> Result<Vec<ResolvedUnit>, RenderError> {
    let all: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    for spec in specs {
        if let Some(unknown) = spec.after.iter().find(|after| !all.contains(after.as_str())) {
            let message = format!("unit `{}` comes after `{unknown}`, which is no unit", spec.name);
            return Err(wrong(message, "correct the name under `after`"));
        }
    }
    let here =
        |spec: &&UnitSpec| spec.environments.is_empty() || spec.environments.iter().any(|e| e == environment);
    let here: Vec<&UnitSpec> = specs.iter().filter(here).collect();
    in_order(&here)?.into_iter().map(|spec| resolve(tree, spec, environment)).collect()
}

/// Sorts by `after`; units that do not wait for one another keep their order. Units of other environments are not
/// waited for.
fn in_order<'a>(specs: &[&'a UnitSpec]) -> Result<Vec<&'a UnitSpec>, RenderError> {
    let mut waiting: Vec<&UnitSpec> = specs.to_vec();
    let mut sorted = Vec::new();
    while !waiting.is_empty() {
        let blocked = |spec: &UnitSpec| waiting.iter().any(|other| spec.after.contains(&other.name));
        let Some(next) = waiting.iter().position(|spec| !blocked(spec)) else {
            let names: Vec<&str> = waiting.iter().map(|spec| spec.name.as_str()).collect();
            let message = format!("the units {} wait for one another", names.join(", "));
            return Err(wrong(message, "remove one of the `after` entries"));
        };
        sorted.push(waiting.remove(next));
    }
    Ok(sorted)
}

fn resolve(tree: &SourceTree, spec: &UnitSpec, environment: &str) -> Result<ResolvedUnit, RenderError> {
    let path = spec.path.replace("{env}", environment);
    let path = if path == "." { "" } else { path.trim_start_matches("./").trim_end_matches('/') };
    if path.starts_with('/')
        || (!path.is_empty() && path.split('/').any(|part| matches!(part, "" | "." | "..")))
    {
        let message =
            format!("the path `{path}` of unit `{}` is not a path inside the repository", spec.name);
        return Err(wrong(message, "write it relative to the root, without `..`"));
    }
    if !tree.has_directory(path) {
        let message = format!("the directory `{path}` of unit `{}` does not exist", spec.name);
        return Err(wrong(message, "correct the path, or limit the unit with `environments`"));
    }
    Ok(ResolvedUnit { name: name(&spec.name)?, path: path.to_owned() })
}

fn name(text: &str) -> Result<UnitName, RenderError> {
    UnitName::new(text).ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        let hint = "use lower-case letters, digits and `-`, at most 60 characters";
        wrong(format!("`{shown}` cannot be a unit's name"), hint)
    })
}
