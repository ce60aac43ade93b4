//! The evidence that an object is ours to delete, looked at again in the moment of deleting.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_cluster::FIELD_MANAGER;
use windlass_model::{Action, ApplySet, GroupKind, Object, ObjectRef, PART_OF, Rendering};

use crate::applied::{Key, key};
use crate::definition::defined_kind;

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
    fn reason(&self, live: &Object) -> Option<&'static str> {
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

/// Returns why a live object must not be deleted although the plan says so, or `None` if all evidence holds.
pub(crate) fn doubt(
    live: &Object,
    action: &Action,
    set: Option<&ApplySet>,
    wanted: &Wanted<'_>,
) -> Option<String> {
    let Some(set) = set else { return Some("its set has no parent any more".to_owned()) };
    if !has_label(live, set) {
        return Some(format!("it does not carry the label {PART_OF} of its set any more"));
    }
    if !set.members.contains(&action.object.inventory_entry()) {
        return Some("no earlier run recorded it as a member of its set".to_owned());
    }
    if !has_apply_entry(live, FIELD_MANAGER) {
        return Some(format!("the manager `{FIELD_MANAGER}` has applied none of its fields"));
    }
    let owners = live.body().pointer("/metadata/ownerReferences").and_then(Value::as_array);
    if let Some(owner) = owners.and_then(|owners| owners.first()) {
        let text = |field: &str| owner[field].as_str().unwrap_or("?").to_owned();
        return Some(format!("it is owned by {} {}", text("kind"), text("name")));
    }
    wanted.reason(live).map(str::to_owned)
}

/// Says whether an object carries the label of a set.
pub(crate) fn has_label(live: &Object, set: &ApplySet) -> bool {
    live.label(PART_OF) == Some(set.id().as_str())
}

/// Says whether a manager owns fields of an object by server-side apply.
pub(crate) fn has_apply_entry(live: &Object, manager: &str) -> bool {
    let entries = live.body().pointer("/metadata/managedFields").and_then(Value::as_array);
    entries.into_iter().flatten().any(|entry| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry["subresource"].as_str().is_none_or(str::is_empty)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{Digest, EnvironmentName, Operation, Preview, Risk, Unit, UnitName};

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
        let action = Action {
            unit: UnitName::new("shop").unwrap(),
            object: live.reference().clone(),
            origin: None,
            operation: Operation::Prune,
            preview: Preview::Server,
            live: None,
            delta: Vec::new(),
            desired: None,
            risk: Risk::Deletion,
            takes_over: Vec::new(),
            forecasts: Vec::new(),
            problem: None,
            warnings: Vec::new(),
        };
        let members = set().of([live.reference()]);
        let rendering = rendering(rendered);
        let wanted = Wanted::new(&rendering, uids.iter().copied().collect(), "windlass-system");
        doubt(live, &action, Some(&members), &wanted)
    }

    fn check(live: &Object, rendered: Vec<Object>, want: Option<&str>) {
        let got = judge(live, rendered, &[]);
        match (&got, want) {
            (None, None) => {}
            (Some(got), Some(want)) if got.contains(want) => {}
            _ => panic!("{}: {got:?}, not {want:?}", live.reference()),
        }
    }

    fn changed(change: impl Fn(&mut Value)) -> Object {
        let live = live("v1", "ConfigMap", Some("shop"), "a");
        let mut body = live.body().clone();
        change(&mut body);
        live.with_body(body)
    }

    #[test]
    fn each_piece_of_evidence_is_needed() {
        check(&changed(|_| ()), vec![], None);
        check(&changed(|body| body["metadata"]["labels"] = json!({})), vec![], Some("label"));
        check(
            &changed(|body| body["metadata"]["labels"][PART_OF] = "applyset-other-v1".into()),
            vec![],
            Some("label"),
        );
        check(&changed(|body| body["metadata"]["managedFields"] = json!([])), vec![], Some("applied none"));
        check(
            &changed(|body| body["metadata"]["managedFields"][0]["operation"] = "Update".into()),
            vec![],
            Some("applied none"),
        );
        check(
            &changed(|body| body["metadata"]["managedFields"][0]["subresource"] = "status".into()),
            vec![],
            Some("applied none"),
        );
        check(
            &changed(|body| body["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "j"}])),
            vec![],
            Some("owned by Job j"),
        );
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
        let rendering = rendering(vec![]);
        let wanted = Wanted::new(&rendering, BTreeSet::new(), "windlass-system");
        let action = Action {
            unit: UnitName::new("shop").unwrap(),
            object: map.reference().clone(),
            origin: None,
            operation: Operation::Prune,
            preview: Preview::Server,
            live: None,
            delta: Vec::new(),
            desired: None,
            risk: Risk::Deletion,
            takes_over: Vec::new(),
            forecasts: Vec::new(),
            problem: None,
            warnings: Vec::new(),
        };
        assert!(doubt(&map, &action, Some(&set()), &wanted).is_some());
        assert!(doubt(&map, &action, None, &wanted).is_some());
    }
}
