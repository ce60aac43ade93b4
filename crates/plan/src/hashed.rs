//! Names that kustomize's generators make: `<base>-<hash of the content>`.

use std::collections::BTreeMap;

use windlass_model::{Object, ObjectRef};

/// The characters of kustomize's hash: hexadecimal digits, with those replaced that could spell words.
const ALPHABET: &str = "2456789bcdfghkmt";
const LENGTH: usize = 10;

/// Returns the name without the hash, if it ends in one.
pub(crate) fn base(name: &str) -> Option<&str> {
    let (base, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == LENGTH && hash.chars().all(|c| ALPHABET.contains(c));
    (is_hash && !base.is_empty()).then_some(base)
}

/// The rendered ConfigMaps and Secrets that a generator named, by kind, namespace and name without the hash.
pub(crate) struct Generated<'a>(BTreeMap<Key<'a>, Vec<&'a Object>>);

type Key<'a> = (&'a str, Option<&'a str>, &'a str);

impl<'a> Generated<'a> {
    pub(crate) fn of(rendered: impl Iterator<Item = &'a Object>) -> Self {
        let mut generated: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for object in rendered {
            if let Some(key) = key(object.reference()) {
                generated.entry(key).or_default().push(object);
            }
        }
        Self(generated)
    }

    /// Returns the rendered object that takes the place of a generated ConfigMap or Secret, if there is one: same kind,
    /// same namespace, same base name, another hash.
    pub(crate) fn successor(&self, old: &ObjectRef) -> Option<&'a Object> {
        let same = self.0.get(&key(old)?)?;
        same.iter().copied().find(|new| new.reference().name != old.name)
    }
}

fn key(object: &ObjectRef) -> Option<Key<'_>> {
    let generated = object.kind.is("", "ConfigMap") || object.kind.is("", "Secret");
    let base = base(&object.name).filter(|_| generated)?;
    Some((&object.kind.kind, object.namespace.as_deref(), base))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_kustomizes_hashes_are_taken_off() {
        for (name, want) in [
            ("app-config-5h2ct8kd4m", Some("app-config")),
            ("app-config-5h2ct8kd4", None),
            ("app-config-5h2ct8kd4a", None),
            ("app-config-production", None),
            ("5h2ct8kd4m", None),
            ("-5h2ct8kd4m", None),
        ] {
            assert_eq!(base(name), want, "{name}");
        }
    }

    #[test]
    fn a_successor_has_the_same_place() {
        let object = |kind: &str, namespace: &str, name: &str| {
            let metadata = json!({"name": name, "namespace": namespace});
            Object::new(json!({"apiVersion": "v1", "kind": kind, "metadata": metadata}), None).unwrap()
        };
        let check = |old: &Object, new: &Object, want: bool| {
            let generated = Generated::of([old, new].into_iter());
            assert_eq!(generated.successor(old.reference()).is_some(), want, "{:?}", new.reference());
        };
        let old = object("Secret", "shop", "db-5h2ct8kd4m");
        for (kind, namespace, name, want) in [
            ("Secret", "shop", "db-hk7m2bdt9f", true),
            ("Secret", "other", "db-hk7m2bdt9f", false),
            ("ConfigMap", "shop", "db-hk7m2bdt9f", false),
            ("Secret", "shop", "db", false),
            ("Secret", "shop", "web-hk7m2bdt9f", false),
            ("Secret", "shop", "db-5h2ct8kd4m", false),
        ] {
            check(&old, &object(kind, namespace, name), want);
        }
        let claim = |name: &str| object("PersistentVolumeClaim", "shop", name);
        check(&claim("db-5h2ct8kd4m"), &claim("db-hk7m2bdt9f"), false);
    }
}
