//! Generated sets of objects: the same for the same arguments.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::kinds::{self, Kind, MIX};

/// Names of generated namespaces begin with this.
pub(crate) const NAMESPACE: &str = "bench-";

/// What is generated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set {
    /// How many objects, not counting their namespaces: one for each hundred, fifty at most.
    pub(crate) objects: usize,
    /// How many of them differ from those of an unchanged set.
    pub(crate) changed: usize,
}

/// A set on disk.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Returns the repository: `windlass.yaml` and one unit.
    pub(crate) fn repository(&self) -> PathBuf {
        self.0.join("repository")
    }

    /// Returns the unit: a YAML file a namespace, the namespace first.
    pub(crate) fn objects(&self) -> PathBuf {
        self.repository().join("objects")
    }

    /// Returns the same objects as requests: `namespaces.jsonl`, `requests.jsonl` and `lists.txt`.
    pub(crate) fn raw(&self) -> PathBuf {
        self.0.join("raw")
    }
}

struct Item {
    kind: &'static Kind,
    object: Value,
}

impl Set {
    /// Returns how many objects it holds, namespaces and all.
    pub(crate) fn len(self) -> usize {
        self.objects + self.namespaces()
    }

    fn namespaces(self) -> usize {
        (self.objects / 100).clamp(1, 50)
    }

    /// Writes the set.
    pub(crate) fn write(self, folder: &Path) -> io::Result<Folder> {
        let folder = Folder(folder.to_path_buf());
        fs::create_dir_all(folder.objects())?;
        fs::create_dir_all(folder.raw())?;
        fs::write(folder.repository().join("windlass.yaml"), "units:\n  - name: bench\n    path: objects\n")?;
        let create = |name: &str| fs::File::create(folder.raw().join(name)).map(io::BufWriter::new);
        let (mut namespaces, mut requests) = (create("namespaces.jsonl")?, create("requests.jsonl")?);
        let mut lists = BTreeSet::from(["/api/v1/namespaces".to_owned()]);
        for (index, items) in self.items().into_iter().enumerate() {
            let name = format!("{NAMESPACE}{index}");
            let namespace = kinds::namespace(&name);
            write_request(&mut namespaces, &format!("/api/v1/namespaces/{name}"), &namespace)?;
            let mut text = document(&namespace)?;
            for Item { kind: Kind { group, plural, .. }, object } in items {
                let own = object["metadata"]["name"].as_str().unwrap_or_default();
                write_request(&mut requests, &format!("{group}/namespaces/{name}/{plural}/{own}"), &object)?;
                text.push_str(&document(&object)?);
                lists.insert(format!("{group}/{plural}"));
            }
            fs::write(folder.objects().join(format!("{index:04}.yaml")), text)?;
        }
        namespaces.flush()?;
        requests.flush()?;
        fs::write(folder.raw().join("lists.txt"), Vec::from_iter(lists).join("\n"))?;
        Ok(folder)
    }

    /// Returns the objects of each namespace.
    fn items(self) -> Vec<Vec<Item>> {
        let wheel: Vec<&'static Kind> =
            MIX.iter().flat_map(|kind| std::iter::repeat_n(kind, kind.share)).collect();
        let mut namespaces: Vec<Vec<Item>> =
            std::iter::repeat_with(Vec::new).take(self.namespaces()).collect();
        for (index, kind) in wheel.iter().cycle().take(self.objects).enumerate() {
            let place = index / wheel.len() % self.namespaces();
            let mut object = (kind.make)(&format!("{NAMESPACE}{place}"), index);
            if self.is_changed(index) {
                object["metadata"]["labels"]["app.kubernetes.io/version"] = "1.27.4".into();
            }
            if let Some(items) = namespaces.get_mut(place) {
                items.push(Item { kind, object });
            }
        }
        namespaces
    }

    /// Spreads the changed ones evenly, at places that move, so that all kinds come up.
    fn is_changed(self, index: usize) -> bool {
        let Some(step) = self.objects.checked_div(self.changed) else { return false };
        let place = index / step;
        place < self.changed && index % step == place * 37 % step
    }
}

fn write_request(out: &mut impl io::Write, path: &str, object: &Value) -> io::Result<()> {
    writeln!(out, "{}", json!({"path": path, "object": object}))
}

fn document(object: &Value) -> io::Result<String> {
    let text = serde_saphyr::to_string(object).map_err(io::Error::other)?;
    Ok(format!("---\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(objects: usize, changed: usize) -> Vec<Value> {
        Set { objects, changed }.items().into_iter().flatten().map(|item| item.object).collect()
    }

    #[test]
    fn the_shares_are_of_a_hundred() {
        assert_eq!(MIX.iter().map(|kind| kind.share).sum::<usize>(), 100);
    }

    #[test]
    fn exactly_as_many_objects_as_asked_for_each_with_a_name_of_its_own() {
        for count in [1, 99, 1000, 7777] {
            let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]);
            assert_eq!(objects(count, 0).iter().map(name).collect::<BTreeSet<_>>().len(), count);
        }
    }

    #[test]
    fn exactly_the_changed_ones_differ() {
        for (count, changed) in [(1000, 0), (1000, 10), (1050, 10), (200, 2), (10_000, 100)] {
            let (before, after) = (objects(count, 0), objects(count, changed));
            let differ = before.iter().zip(&after).filter(|(before, after)| before != after).count();
            assert_eq!(differ, changed, "of {count}");
        }
    }
}
