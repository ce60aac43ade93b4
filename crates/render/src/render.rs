//! From a tree to a rendering.

use std::collections::HashMap;

use serde_json::json;
use windlass_model::{Digest, GroupKind, Hasher, Object, Origin, Rendering, SourceTree, Unit, mask_object};

use crate::kustomize::Kustomize;
use crate::objects::{self, Raw};
use crate::scope::Definitions;
use crate::{Limits, ObjectProblem, RenderError, RenderErrors, ResolvedUnit, Tools, closure, plain};

/// Turns a tree into objects.
///
/// `scopes` says whether a kind is namespaced, where the caller knows it from a cluster; Kubernetes' own kinds and
/// kinds whose CRD is part of the tree are known without it.
///
/// # Errors
///
/// Returns everything that is wrong in all units, not just the first.
pub async fn render(
    tree: &SourceTree,
    units: &[ResolvedUnit],
    tools: &Tools,
    limits: &Limits,
    scopes: &(dyn Fn(&GroupKind) -> Option<bool> + Sync),
) -> Result<Rendering, RenderErrors> {
    let mut run = Run {
        tree,
        units,
        tools,
        limits,
        kustomize: None,
        definitions: Definitions::default(),
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let mut raws = Vec::new();
    for unit in units {
        raws.push(run.unit(unit).await);
    }
    let Run { kustomize, definitions, mut errors, mut warnings, .. } = run;
    let mut done = Vec::new();
    for (unit, raws) in units.iter().zip(raws) {
        let mut objects = Vec::new();
        for raw in raws {
            match objects::check(raw, &definitions, &scopes, &mut warnings) {
                Ok(object) => objects.push(object),
                Err(error) => errors.push(error),
            }
        }
        if objects.is_empty() {
            warnings.push(format!("{}: the unit `{}` holds no object", unit.path, unit.name));
        }
        done.push(Unit { name: unit.name.clone(), path: unit.path.clone(), objects });
    }
    errors.extend(duplicates(&done));
    if !errors.is_empty() {
        return Err(RenderErrors(errors));
    }
    let renderer =
        kustomize.map_or_else(|| "plain".to_owned(), |kustomize| format!("kustomize {}", kustomize.version));
    Ok(Rendering { digest: digest(&done), units: done, renderer, warnings })
}

struct Run<'a> {
    tree: &'a SourceTree,
    units: &'a [ResolvedUnit],
    tools: &'a Tools,
    limits: &'a Limits,
    /// Started when the first unit needs it.
    kustomize: Option<Kustomize>,
    /// What the tree itself defines.
    definitions: Definitions,
    errors: Vec<RenderError>,
    warnings: Vec<String>,
}

impl Run<'_> {
    async fn unit(&mut self, unit: &ResolvedUnit) -> Vec<Raw> {
        if plain::kustomization(self.tree, &unit.path).is_some() {
            return self.kustomization(unit).await;
        }
        let (files, errors) = plain::manifests(self.tree, unit, self.units);
        self.errors.extend(errors);
        let mut raws = Vec::new();
        for path in files {
            self.read(path, self.tree.read(path).unwrap_or_default(), true, &mut raws);
        }
        raws
    }

    async fn kustomization(&mut self, unit: &ResolvedUnit) -> Vec<Raw> {
        let mut closure = closure::walk(self.tree, &unit.path);
        if !closure.errors.is_empty() {
            self.errors.append(&mut closure.errors);
            return Vec::new();
        }
        let (yaml, warnings) = match self.build(&unit.path).await {
            Ok(output) => output,
            Err(error) => {
                self.errors.push(error);
                return Vec::new();
            }
        };
        self.warnings.extend(warnings);
        let mut raws = Vec::new();
        self.read(&unit.path, &yaml, false, &mut raws);
        let places = closure.places(self.tree);
        for raw in &mut raws {
            // A line of the renderer's output helps nobody: name the manifest, or else the directory.
            let place = closure::key(&raw.body()).and_then(|key| places.get(&key).cloned());
            raw.origin = place.unwrap_or_else(|| Origin { path: unit.path.clone(), line: None });
        }
        raws
    }

    async fn build(&mut self, directory: &str) -> Result<(Vec<u8>, Vec<String>), RenderError> {
        if self.kustomize.is_none() {
            let kustomize = Kustomize::start(self.tree, self.tools, self.limits).await?;
            self.warnings.extend(kustomize.warning.clone());
            self.kustomize = Some(kustomize);
        }
        match &self.kustomize {
            Some(kustomize) => kustomize.build(directory).await,
            None => Ok((Vec::new(), Vec::new())),
        }
    }

    /// Reads one file; `lint` says that a person wrote it.
    fn read(&mut self, path: &str, bytes: &[u8], lint: bool, raws: &mut Vec<Raw>) {
        let documents = match windlass_yaml::parse(bytes) {
            Ok(documents) => documents,
            Err(source) => return self.errors.push(RenderError::Yaml { path: path.to_owned(), source }),
        };
        for document in documents {
            if lint {
                let lints =
                    document.lints.iter().map(|lint| format!("{path}:{}: {}", lint.position, lint.text));
                self.warnings.extend(lints);
            }
            let mut bodies = Vec::new();
            objects::flatten(document, path, &mut bodies, &mut self.errors);
            for (body, origin) in bodies {
                self.definitions.take(&body);
                raws.push(Raw::new(&body, origin));
            }
        }
    }
}

/// Finds objects that are written twice, in one unit or in two.
fn duplicates(units: &[Unit]) -> Vec<RenderError> {
    let mut seen: HashMap<_, String> = HashMap::new();
    let mut errors = Vec::new();
    for (unit, object) in units.iter().flat_map(|unit| unit.objects.iter().map(move |object| (unit, object)))
    {
        let reference = object.reference();
        let origin = object.origin().cloned().unwrap_or(Origin { path: unit.path.clone(), line: None });
        match seen.get(&reference.key()) {
            None => drop(seen.insert(reference.key(), format!("{origin} (unit {})", unit.name))),
            Some(first) => {
                let problem = ObjectProblem::Duplicate { first: first.clone() };
                errors.push(RenderError::Object { origin, object: reference.to_string(), problem });
            }
        }
    }
    errors
}

/// Hashes all objects by unit. The order inside a unit does not count: it has no effect on what is applied.
/// Secret values are masked: the digest is published, and a short secret could be guessed from it.
fn digest(units: &[Unit]) -> Digest {
    let mut hasher = Hasher::default();
    for unit in units {
        let mut objects: Vec<&Object> = unit.objects.iter().collect();
        objects.sort_by_key(|object| object.reference().key());
        hasher.json(&json!({"unit": unit.name, "objects": objects.len()}));
        for object in objects {
            hasher.json(&mask_object(&object.reference().kind, object.folded().body()));
        }
    }
    hasher.digest()
}
