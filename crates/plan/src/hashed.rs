//! Names that kustomize's generators make: `<base>-<hash of the content>`.

use windlass_model::ObjectRef;

/// The characters of kustomize's hash: hexadecimal digits, with those replaced that could spell words.
const ALPHABET: &str = "2456789bcdfghkmt";
const LENGTH: usize = 10;

/// Returns the name without the hash, if it ends in one.
pub(crate) fn base(name: &str) -> Option<&str> {
    let (base, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == LENGTH && hash.chars().all(|c| ALPHABET.contains(c));
    (is_hash && !base.is_empty()).then_some(base)
}

/// Returns the rendered object that takes the place of a generated ConfigMap or Secret, if there is one:
/// same kind, same namespace, same base name, another hash.
pub(crate) fn successor<'a>(
    old: &ObjectRef,
    mut rendered: impl Iterator<Item = &'a ObjectRef>,
) -> Option<&'a ObjectRef> {
    if !(old.kind.is("", "ConfigMap") || old.kind.is("", "Secret")) {
        return None;
    }
    let wanted = base(&old.name)?;
    rendered.find(|new| {
        new.kind == old.kind
            && new.namespace == old.namespace
            && new.name != old.name
            && base(&new.name) == Some(wanted)
    })
}

#[cfg(test)]
mod tests {
    use windlass_model::GroupKind;

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
        let reference = |kind: &str, namespace: &str, name: &str| ObjectRef {
            kind: GroupKind::new("", kind),
            version: "v1".into(),
            namespace: Some(namespace.into()),
            name: name.into(),
        };
        let old = reference("Secret", "shop", "db-5h2ct8kd4m");
        for (new, want) in [
            (reference("Secret", "shop", "db-hk7m2bdt9f"), true),
            (reference("Secret", "other", "db-hk7m2bdt9f"), false),
            (reference("ConfigMap", "shop", "db-hk7m2bdt9f"), false),
            (reference("Secret", "shop", "db"), false),
            (reference("Secret", "shop", "web-hk7m2bdt9f"), false),
            (old.clone(), false),
        ] {
            assert_eq!(successor(&old, std::iter::once(&new)).is_some(), want, "{new}");
        }
        let claim = reference("PersistentVolumeClaim", "shop", "db-5h2ct8kd4m");
        let new = reference("PersistentVolumeClaim", "shop", "db-hk7m2bdt9f");
        assert!(successor(&claim, std::iter::once(&new)).is_none());
    }
}
