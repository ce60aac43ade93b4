//! Which entries an ApplySet's inventory keeps when it is made narrower.

use windlass_model::{ApplySet, ObjectRef};

/// Adds one entry of the old set to the new one, with the kind and the namespace that it needs.
pub(crate) fn retain(set: &mut ApplySet, entry: &str) {
    let Some((kind, namespace, _)) = ObjectRef::key_of_entry(entry) else { return };
    set.kinds.insert(kind);
    set.namespaces.extend(namespace.filter(|namespace| *namespace != set.namespace).map(str::to_owned));
    set.members.insert(entry.to_owned());
}

/// Returns the group of an entry.
pub(crate) fn group_of(entry: &str) -> String {
    ObjectRef::key_of_entry(entry).map(|(kind, ..)| kind.group).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use windlass_model::{EnvironmentName, GroupKind, UnitName};

    use super::*;

    #[test]
    fn retaining_every_entry_keeps_the_set() {
        let reference = |kind: &str, namespace: Option<&str>, name: &str| ObjectRef {
            kind: GroupKind::from(kind.to_owned()),
            version: "v1".into(),
            namespace: namespace.map(str::to_owned),
            name: name.into(),
        };
        let empty = ApplySet::empty(
            EnvironmentName::new("prd").unwrap(),
            UnitName::new("shop").unwrap(),
            "windlass-system",
        );
        let whole = empty.of(&[
            reference("ConfigMap", Some("shop"), "a.b.c"),
            reference("Secret", Some("windlass-system"), "x"),
            reference("Namespace", None, "shop"),
            reference("CustomResourceDefinition.apiextensions.k8s.io", None, "databases.db.example.dev"),
            reference("Database.db.example.dev", Some("data"), "main"),
        ]);
        let mut again = empty;
        for entry in &whole.members {
            retain(&mut again, entry);
        }
        assert_eq!(again, whole);
        assert_eq!(group_of("Database.db.example.dev/main.data"), "db.example.dev");
        assert_eq!(group_of("ConfigMap./x.y"), "");
    }
}
