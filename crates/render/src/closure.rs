//! What a kustomization pulls in, read before it is rendered, to refuse with file and line what the renderer would
//! refuse with a riddle: remote references, charts, files outside of the tree.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use windlass_model::{Origin, SourceTree};
use windlass_yaml::Document;

use crate::RenderError;
use crate::plain::{join, kustomization};

/// What was found on the way through bases and components.
#[derive(Default)]
pub(crate) struct Closure {
    pub(crate) errors: Vec<RenderError>,
    visited: BTreeSet<String>,
    /// The manifests named under `resources`.
    manifests: BTreeSet<String>,
}

/// Walks through a kustomization and everything it names.
pub(crate) fn walk(tree: &SourceTree, directory: &str) -> Closure {
    let mut closure = Closure::default();
    closure.enter(tree, directory);
    closure
}

impl Closure {
    fn enter(&mut self, tree: &SourceTree, directory: &str) {
        if !self.visited.insert(directory.to_owned()) {
            return;
        }
        let Some(path) = kustomization(tree, directory) else { return };
        let document = match windlass_yaml::parse_one(tree.read(&path).unwrap_or_default()) {
            Ok(document) => document,
            Err(source) => return self.errors.push(RenderError::Yaml { path, source }),
        };
        let file = File { tree, directory, path: &path, document: &document };
        for field in ["helmCharts", "helmChartInflationGenerator"] {
            if document.value.get(field).is_some() {
                let hint = "render the chart and put the result into the repository";
                self.errors.push(file.error(
                    &format!("/{field}"),
                    field,
                    "is not supported: charts are not rendered",
                    hint,
                ));
            }
        }
        for field in ["resources", "bases", "components", "generators", "transformers", "validators"] {
            for (pointer, entry) in texts(&document.value, field) {
                self.follow(&file, &pointer, entry, field);
            }
        }
        for (pointer, entry) in references(&document.value) {
            match file.resolve(entry) {
                _ if is_remote(entry) => self.errors.push(file.remote(&pointer, entry)),
                None => self.errors.push(file.outside(&pointer, entry)),
                Some(_) => {}
            }
        }
    }

    /// Follows an entry that names a file or a directory.
    fn follow(&mut self, file: &File, pointer: &str, entry: &str, field: &str) {
        match file.resolve(entry) {
            Some(path) if file.tree.read(&path).is_some() => {
                if field == "resources" {
                    self.manifests.insert(path);
                }
            }
            Some(path) if file.tree.has_directory(&path) => {
                if kustomization(file.tree, &path).is_none() {
                    let hint = "put a kustomization into it, or name its files";
                    self.errors.push(file.error(
                        pointer,
                        entry,
                        "is a directory without a kustomization",
                        hint,
                    ));
                }
                self.enter(file.tree, &path);
            }
            _ if is_remote(entry) => self.errors.push(file.remote(pointer, entry)),
            None => self.errors.push(file.outside(pointer, entry)),
            Some(_) => {
                let hint = "correct the path; symbolic links and submodules are not part of the tree";
                self.errors.push(file.error(pointer, entry, "is not in the tree", hint));
            }
        }
    }

    /// Returns where objects are written, by apiVersion, kind and name; only those that are written once.
    pub(crate) fn places(&self, tree: &SourceTree) -> HashMap<(String, String, String), Origin> {
        let mut places: HashMap<_, Option<Origin>> = HashMap::new();
        for path in &self.manifests {
            for document in windlass_yaml::parse(tree.read(path).unwrap_or_default()).unwrap_or_default() {
                let origin = Origin { path: path.clone(), line: Some(document.line) };
                if let Some(key) = key(&document.value) {
                    places.entry(key).and_modify(|place| *place = None).or_insert(Some(origin));
                }
            }
        }
        places.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
    }
}

/// Returns apiVersion, kind and name of an object.
pub(crate) fn key(body: &Value) -> Option<(String, String, String)> {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some((text("/apiVersion")?, text("/kind")?, text("/metadata/name")?))
}

struct File<'a> {
    tree: &'a SourceTree,
    directory: &'a str,
    path: &'a str,
    document: &'a Document,
}

impl File<'_> {
    /// Returns the path inside the tree that an entry names; `None` when it leads out of the tree.
    fn resolve(&self, entry: &str) -> Option<String> {
        if entry.starts_with('/') {
            return None;
        }
        let mut parts: Vec<&str> = self.directory.split('/').filter(|part| !part.is_empty()).collect();
        for part in entry.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                _ => parts.push(part),
            }
        }
        Some(parts.iter().fold(String::new(), |path, part| join(&path, part)))
    }

    fn error(&self, pointer: &str, entry: &str, problem: &'static str, hint: &'static str) -> RenderError {
        let line = self.document.position(pointer).map(|position| position.line);
        let origin = Origin { path: self.path.to_owned(), line };
        RenderError::Kustomization { origin, entry: entry.chars().take(200).collect(), problem, hint }
    }

    fn remote(&self, pointer: &str, entry: &str) -> RenderError {
        let hint = "copy the content into the repository: what is delivered is exactly what was signed";
        self.error(pointer, entry, "is fetched from elsewhere, which is not allowed", hint)
    }

    fn outside(&self, pointer: &str, entry: &str) -> RenderError {
        self.error(pointer, entry, "leads out of the repository", "move what it names into the repository")
    }
}

/// Returns the texts of a list with their pointers; what has several lines is content and not a path.
fn texts<'a>(value: &'a Value, field: &'a str) -> impl Iterator<Item = (String, &'a str)> {
    let items = value.get(field).and_then(Value::as_array).into_iter().flatten().enumerate();
    items
        .filter_map(move |(index, item)| Some((format!("/{field}/{index}"), item.as_str()?)))
        .filter(|(_, text)| !text.contains('\n'))
}

/// Returns all other entries that name files.
fn references(value: &Value) -> Vec<(String, &str)> {
    let mut found: Vec<(String, &str)> = Vec::new();
    for field in ["crds", "configurations", "patchesStrategicMerge"] {
        found.extend(texts(value, field));
    }
    for field in ["patches", "patchesJson6902", "replacements"] {
        for (index, item) in value.get(field).and_then(Value::as_array).into_iter().flatten().enumerate() {
            found.extend(item["path"].as_str().map(|path| (format!("/{field}/{index}/path"), path)));
        }
    }
    for field in ["configMapGenerator", "secretGenerator"] {
        for (index, item) in value.get(field).and_then(Value::as_array).into_iter().flatten().enumerate() {
            for list in ["files", "envs"] {
                found.extend(texts(item, list).map(|(pointer, text)| {
                    let path = if list == "files" {
                        text.split_once('=').map_or(text, |(_, path)| path)
                    } else {
                        text
                    };
                    (format!("/{field}/{index}{pointer}"), path)
                }));
            }
            found.extend(item["env"].as_str().map(|path| (format!("/{field}/{index}/env"), path)));
        }
    }
    found.extend(
        value.pointer("/openapi/path").and_then(Value::as_str).map(|path| ("/openapi/path".to_owned(), path)),
    );
    found
}

/// Says whether kustomize would fetch an entry that is no local path.
fn is_remote(entry: &str) -> bool {
    const HOSTS: [&str; 6] = ["github.com", "gitlab.com", "bitbucket.org", "git@", "git::", "ssh:"];
    entry.contains("://")
        || HOSTS.iter().any(|host| entry.starts_with(host))
        || entry.contains("?ref=")
        || entry.contains(".git//")
        || entry.rsplit('.').next() == Some("git")
}
