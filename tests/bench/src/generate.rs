//! Generated repositories: objects of many kinds in namespaces of fifty, the same for the same arguments.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::kinds;

/// A set of objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set<'a> {
    /// The beginning of all names.
    pub(crate) prefix: &'a str,
    /// How many objects.
    pub(crate) objects: usize,
    /// How many ConfigMaps differ from those of an unchanged set.
    pub(crate) changed: usize,
}

/// What one namespace holds, beside itself: kinds in the shares of a platform that runs databases.
const NAMESPACE: [(kinds::Make, usize); 10] = [
    (kinds::config_map, 15),
    (kinds::secret, 8),
    (kinds::service, 7),
    (kinds::deployment, 5),
    (kinds::service_account, 4),
    (kinds::role, 3),
    (kinds::role_binding, 3),
    (kinds::stateful_set, 2),
    (kinds::network_policy, 1),
    (kinds::disruption_budget, 1),
];

impl Set<'_> {
    /// Returns the objects, namespace by namespace.
    pub(crate) fn namespaces(&self) -> Vec<Vec<Value>> {
        let mut left = self.objects;
        let mut changes = self.changed;
        let mut namespaces = Vec::new();
        while left > 0 {
            let name = format!("{}-{}", self.prefix, namespaces.len());
            let mut objects = vec![kinds::namespace(&name)];
            for (make, count) in NAMESPACE {
                objects.extend((0..count).map(|index| make(&name, index)));
            }
            objects.truncate(left);
            left -= objects.len();
            for object in objects.iter_mut().filter(|object| object["kind"] == "ConfigMap") {
                if changes > 0 {
                    object["data"]["changed"] = "yes".into();
                    changes -= 1;
                }
            }
            namespaces.push(objects);
        }
        namespaces
    }

    /// Writes a repository of one unit and returns how many objects it holds.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<usize> {
        let unit = folder.join("objects");
        fs::create_dir_all(&unit)?;
        fs::write(folder.join("windlass.yaml"), "units:\n  - name: bench\n    path: objects\n")?;
        let namespaces = self.namespaces();
        for (index, objects) in namespaces.iter().enumerate() {
            let mut text = String::new();
            for object in objects {
                text.push_str("---\n");
                text.push_str(&serde_saphyr::to_string(object).map_err(io::Error::other)?);
            }
            fs::write(unit.join(format!("{index:04}.yaml")), text)?;
        }
        Ok(namespaces.iter().map(Vec::len).sum())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn exactly_as_many_objects_as_asked_for_each_with_a_name_of_its_own() {
        for objects in [1, 50, 51, 1000] {
            let all: Vec<Value> = Set { prefix: "a", objects, changed: 0 }.namespaces().concat();
            let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]);
            assert_eq!(all.iter().map(name).collect::<BTreeSet<_>>().len(), objects);
        }
    }

    #[test]
    fn only_the_changed_ones_differ() {
        let all = |changed| Set { prefix: "a", objects: 1000, changed }.namespaces().concat();
        let (before, after) = (all(0), all(10));
        assert_eq!(before.iter().zip(&after).filter(|(before, after)| before != after).count(), 10);
    }
}
