//! The evidence that an object is ours to delete, looked at again in the moment of deleting.

use std::collections::BTreeSet;

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{
    ApplySet, GroupKind, Object, ObjectRef, PART_OF, Rendering, defined_kind, membership_doubt,
};

use crate::applied::{Key, key};

/// What must not be deleted, whatever an action says.
pub(crate) struct Wanted<'a> {
    keys: BTreeSet<Key>,
    namespaces: BTreeSet<&'a str>,
    kinds: BTreeSet<&'a GroupKind>,
    /// The uids of what was applied: one stored object can be served in several groups.
    uids: BTreeSet<&'a str>,
}

impl<'a> Wanted<'a> {
    /// Names what a rendering needs, and the record namespace.
    pub(crate) fn new(rendering: &'a Rendering, uids: BTreeSet<&'a str>, record_namespace: &'a str) -> Self {
        let references: Vec<&ObjectRef> = rendering.objects().map(|(_, object)| object.reference()).collect();
        let namespaces = references.iter().filter_map(|reference| reference.namespace.as_deref());
        Self {
            keys: references.iter().map(|reference| key(reference)).collect(),
            namespaces: namespaces.chain([record_namespace]).collect(),
            kinds: references.iter().map(|reference| &reference.kind).collect(),
            uids,
        }
    }

    /// Returns why an object must stay, if it must.
    pub(crate) fn reason(&self, live: &Object) -> Option<&'static str> {
        let reference = live.reference();
        if self.keys.contains(&key(reference)) || live.uid().is_some_and(|uid| self.uids.contains(uid)) {
            return Some("a unit renders it");
        }
        if reference.kind.is("", "Namespace") && self.namespaces.contains(reference.name.as_str()) {
            return Some("objects that are delivered live in it");
        }
        if defined_kind(live).is_some_and(|kind| self.kinds.contains(&kind)) {
            return Some("objects of its kind are delivered");
        }
        None
    }
}

/// Returns why a live object is not to be taken for ours although the plan says so, or `None` if all evidence holds.
pub(crate) fn doubt(live: &Object, set: Option<&ApplySet>) -> Option<String> {
    let Some(set) = set else { return Some("its set has no parent any more".to_owned()) };
    membership_doubt(live, set, FIELD_MANAGER).map(|doubt| doubt.to_string())
}

/// Says whether an object carries the label of a set.
pub(crate) fn has_label(live: &Object, set: &ApplySet) -> bool {
    live.label(PART_OF) == Some(set.id().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{Digest, EnvironmentName, Unit, UnitName};

    use super::*;

    fn set() -> ApplySet {
        let environment = EnvironmentName::new("prd").unwrap();
        ApplySet::empty(environment, UnitName::new("shop").unwrap(), "windlass-system")
    }

    fn live(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Object {
        let body = json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": {
                "name": name, "namespace": namespace, "uid": "u1",
                "labels": {PART_OF: set().id()},
                "managedFields": [{"manager": FIELD_MANAGER, "operation": "Apply"}],
            },
            "spec": {"group": "x.dev", "names": {"kind": "A"}},
        });
        Object::new(body, None).unwrap()
    }

    fn rendering(objects: Vec<Object>) -> Rendering {
        let unit = Unit { name: UnitName::new("shop").unwrap(), path: String::new(), objects };
        Rendering {
            units: vec![unit],
            renderer: String::new(),
            digest: Digest::of_bytes(b""),
            warnings: Vec::new(),
        }
    }

    fn judge(live: &Object, rendered: Vec<Object>, uids: &[&str]) -> Option<String> {
        let members = set().of([live.reference()]);
        let rendering = rendering(rendered);
        let wanted = Wanted::new(&rendering, uids.iter().copied().collect(), "windlass-system");
        doubt(live, Some(&members)).or_else(|| wanted.reason(live).map(str::to_owned))
    }

    fn check(live: &Object, rendered: Vec<Object>, want: Option<&str>) {
        let got = judge(live, rendered, &[]);
        match (&got, want) {
            (None, None) => {}
            (Some(got), Some(want)) if got.contains(want) => {}
            _ => panic!("{}: {got:?}, not {want:?}", live.reference()),
        }
    }

    #[test]
    fn what_a_unit_renders_stays() {
        let map = live("v1", "ConfigMap", Some("shop"), "a");
        check(&map, vec![map.clone()], Some("renders it"));
        assert_eq!(judge(&map, vec![], &["u1"]).as_deref(), Some("a unit renders it"));
    }

    #[test]
    fn what_delivered_objects_need_stays() {
        let namespace = live("v1", "Namespace", None, "shop");
        check(&namespace, vec![], None);
        check(&namespace, vec![live("v1", "ConfigMap", Some("shop"), "a")], Some("live in it"));
        check(&live("v1", "Namespace", None, "windlass-system"), vec![], Some("live in it"));
        let definition = live("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, "as.x.dev");
        check(&definition, vec![], None);
        check(&definition, vec![live("x.dev/v1", "A", Some("data"), "a")], Some("of its kind"));
    }

    #[test]
    fn a_set_without_the_member_is_no_evidence() {
        let map = live("v1", "ConfigMap", Some("shop"), "a");
        assert!(doubt(&map, Some(&set())).is_some());
        assert!(doubt(&map, None).is_some());
    }
}
