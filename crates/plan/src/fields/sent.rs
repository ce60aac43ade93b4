//! What is sent for an object: the manifest, without what rules leave to others or ignore.

use std::collections::BTreeSet;

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{
    Conflict, FieldChange, FieldPath, FieldSet, Ignored, ManagedEntry, Object, carry, fits, strip,
};
use windlass_settings::Winner;

use super::FieldRules;
use super::rules::Ignoring;
use crate::immutable;

/// What is sent for one object, and what is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    /// The object as it is sent; `None` if that is the manifest as it is.
    pub(crate) object: Option<Object>,
    /// Declared fields that are left to those who own them.
    pub(crate) leaves: Vec<Conflict>,
    /// Differences that are ignored.
    pub(crate) ignored: Vec<Ignored>,
    /// The positions of the ignore rules that meant something.
    pub(crate) used: BTreeSet<usize>,
}

impl Sent {
    /// Returns what is sent for a manifest.
    pub(crate) fn or<'a>(&'a self, desired: &'a Object) -> &'a Object {
        self.object.as_ref().unwrap_or(desired)
    }
}

/// Takes out of a manifest what rules leave to others or ignore. An object that is to be created is sent whole.
///
/// A field that is left to its owner may go: the owner keeps it alive, whatever we owned of it. A field that is ignored
/// may have no other owner, and would fall back to its default: where we own it, the live value is sent.
pub(crate) fn sent(desired: &Object, live: Option<&Object>, rules: &FieldRules) -> Sent {
    let mut sent = Sent::default();
    let Some(live) = live else {
        sent.used = rules
            .ignoring(desired.reference())
            .filter(|(_, one)| is_declared(one, desired))
            .map(|(at, _)| at)
            .collect();
        return sent;
    };
    if rules.hold_nothing_of(desired.reference()) {
        return sent;
    }
    let mut body = desired.body().clone();
    if rules.leaves() {
        for entry in foreign(live) {
            let held = rules.left_to(live, entry.manager(), &entry.fields());
            sent.leaves.extend(strip(&mut body, &held).iter().map(|path| entry.conflict(path)));
        }
        sent.leaves.extend(untraced(live, &mut body, rules));
    }
    for (position, one) in rules.ignoring(desired.reference()) {
        if is_declared(one, desired) || is_declared(one, live) {
            sent.used.insert(position);
            ignore(one, live, &mut body);
        }
    }
    if !sent.used.is_empty() {
        sent.ignored = hidden(desired, live, rules);
    }
    sent.object = (body != *desired.body()).then(|| desired.with_body(body));
    sent
}

/// Takes out what rules leave to others, is live, and is owned by nobody, us included: whoever scales a workload to zero
/// through its subresource takes the field from us and leaves no entry (measured on 1.36).
fn untraced(live: &Object, body: &mut serde_json::Value, rules: &FieldRules) -> Vec<Conflict> {
    let mut left = Vec::new();
    for pattern in rules.leaving(live.reference()) {
        for place in pattern.places(body) {
            let is_live = pattern.places(live.body()).contains(&place);
            let is_owned = || {
                ManagedEntry::all(live).any(|entry| {
                    entry.fields().leaves().any(|path| path.contains(&place) || place.contains(&path))
                })
            };
            if place.is_plain() && is_live && !is_owned() && place.remove_from(body) {
                left.push(Conflict {
                    field: place.to_string(),
                    manager: "nobody".to_owned(),
                    ..Conflict::default()
                });
            }
        }
    }
    left
}

/// Splits what the server would change into what counts and what rules hide: a webhook may write an ignored field.
pub(crate) fn visible(
    live: &Object,
    changes: Vec<FieldChange>,
    rules: &FieldRules,
) -> (Vec<FieldChange>, Vec<Ignored>) {
    let mut ignored = Vec::new();
    let mut counting = Vec::new();
    for change in changes {
        match hider(live, &change.path, rules) {
            Some(one) => ignored.push(told(one, &change.path)),
            None => counting.push(change),
        }
    }
    (counting, ignored)
}

/// Returns the fields of a live object that must stay with their managers when ownership is migrated.
pub(crate) fn kept(live: &Object, rules: &FieldRules) -> FieldSet {
    let mut kept = FieldSet::default();
    if rules.hold_nothing_of(live.reference()) {
        return kept;
    }
    for entry in foreign(live) {
        let fields = entry.fields();
        kept = kept.union(&rules.left_to(live, entry.manager(), &fields));
        for (_, one) in rules.ignoring(live.reference()) {
            if one.rule.manager.as_ref().is_none_or(|manager| fits(manager, entry.manager())) {
                kept = kept.union(&fields.filter(|path| one.field.covers(path)));
            }
        }
    }
    kept
}

fn foreign(live: &Object) -> impl Iterator<Item = ManagedEntry<'_>> {
    ManagedEntry::all(live).filter(|entry| !entry.is_apply_of(FIELD_MANAGER))
}

fn is_declared(one: &Ignoring, object: &Object) -> bool {
    !one.field.places(object.body()).is_empty()
}

fn ignore(one: &Ignoring, live: &Object, body: &mut serde_json::Value) {
    if let Some(manager) = &one.rule.manager {
        for entry in foreign(live).filter(|entry| fits(manager, entry.manager())) {
            strip(body, &entry.fields().filter(|path| one.field.covers(path)));
        }
        return;
    }
    // From the end, so that positions in lists stay what they are.
    for place in one.field.places(body).iter().rev() {
        place.remove_from(body);
    }
    let own = ManagedEntry::all(live).find(|entry| entry.is_apply_of(FIELD_MANAGER));
    if let Some(own) = own {
        carry(body, live.body(), &own.fields().filter(|path| one.field.covers(path)));
    }
}

/// Returns the differences between manifest and live object that rules hide.
fn hidden(desired: &Object, live: &Object, rules: &FieldRules) -> Vec<Ignored> {
    let changes = immutable::local_delta(live, desired);
    visible(live, changes, rules).1
}

/// Returns the rule that hides a change of a field of a live object.
fn hider<'a>(live: &Object, path: &FieldPath, rules: &'a FieldRules) -> Option<&'a Ignoring> {
    let counts = |one: &&Ignoring| {
        one.field.covers(path)
            && one.rule.manager.as_ref().is_none_or(|manager| {
                foreign(live)
                    .any(|entry| fits(manager, entry.manager()) && entry.path_of(&path.to_string()).is_some())
            })
    };
    rules.ignoring(live.reference()).map(|(_, one)| one).find(counts)
}

fn told(one: &Ignoring, path: &FieldPath) -> Ignored {
    Ignored { field: path.to_string(), reason: one.rule.reason.clone(), until: one.rule.until.clone() }
}

/// Says who wins over a conflict that the server named, if a rule fits or a person's tool wrote the field.
pub(crate) fn winner(live: &Object, conflict: &Conflict, rules: &FieldRules) -> (Option<Winner>, Conflict) {
    let entry = foreign(live)
        .filter(|entry| entry.manager() == conflict.manager)
        .find_map(|entry| Some((entry, entry.path_of(&conflict.field)?)));
    match entry {
        Some((entry, path)) => {
            (rules.winner(live.reference(), &path, &conflict.manager), entry.conflict(&path))
        }
        // Objects without managed fields: the server invents their manager.
        None => (
            rules.winner(live.reference(), &plain_path(&conflict.field), &conflict.manager),
            conflict.clone(),
        ),
    }
}

fn plain_path(field: &str) -> FieldPath {
    field.split('.').filter(|key| !key.is_empty()).fold(FieldPath::root(), |path, key| path.key(key))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};
    use windlass_settings::{ConflictRule, IgnoreRule, Ownership};

    use super::*;

    fn object(spec: &Value, entries: &Value) -> Object {
        let body = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "managedFields": entries}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": {"f:spec": fields}})
    }

    fn rules(leave: &[(&str, &str)], ignore: &[(&str, Option<&str>)]) -> FieldRules {
        let conflicts = leave.iter().map(|(field, manager)| ConflictRule {
            field: (*field).into(),
            manager: (*manager).into(),
            kinds: Vec::new(),
            names: Vec::new(),
            then: Winner::Leave,
        });
        let ignore: Vec<IgnoreRule> = ignore
            .iter()
            .map(|(field, manager)| IgnoreRule {
                kind: "Deployment.apps".into(),
                name: "shop/*".into(),
                field: (*field).into(),
                manager: manager.map(str::to_owned),
                until: "2026-12-31".into(),
                reason: "r".into(),
                environments: Vec::new(),
            })
            .collect();
        let ownership = Ownership { conflicts: conflicts.collect(), migrate: Vec::new() };
        FieldRules::new(&ownership, &ignore, None, Timestamp::UNIX_EPOCH)
    }

    /// Checks what is sent of `desired`, what is left, and what is ignored.
    fn check(
        rules: &FieldRules,
        desired: &Value,
        live: Option<&Object>,
        want: &Value,
        left: &[&str],
        ignored: &[&str],
    ) {
        let desired = object(desired, &Value::Null);
        let sent = sent(&desired, live, rules);
        assert_eq!(&sent.or(&desired).body()["spec"], want);
        assert_eq!(sent.leaves.iter().map(|c| c.field.as_str()).collect::<Vec<_>>(), left);
        assert_eq!(sent.ignored.iter().map(|i| i.field.as_str()).collect::<Vec<_>>(), ignored);
    }

    /// kubernetes issue 25238: an apply resets what the autoscaler has scaled.
    #[test]
    fn a_field_is_left_to_the_manager_that_owns_it() {
        let rules = rules(&[("spec.replicas", "kube-controller-*")], &[]);
        let desired = json!({"replicas": 2, "paused": false});
        let scaled = |spec: &Value| {
            object(spec, &json!([entry("kube-controller-manager", "Update", &json!({"f:replicas": {}}))]))
        };
        check(&rules, &desired, None, &desired, &[], &[]);
        let ours = json!([entry("windlass", "Apply", &json!({"f:replicas": {}, "f:paused": {}}))]);
        check(&rules, &desired, Some(&object(&desired, &ours)), &desired, &[], &[]);
        // Whatever the value: a field that is shared today would be a conflict tomorrow.
        for live in [json!({"replicas": 5}), json!({"replicas": 2})] {
            check(&rules, &desired, Some(&scaled(&live)), &json!({"paused": false}), &["spec.replicas"], &[]);
        }
    }

    /// Scaling to zero leaves no owner at all: the field was ours before.
    #[test]
    fn a_field_that_was_taken_without_a_trace_is_left() {
        let rules = rules(&[("spec.replicas", "hpa")], &[]);
        let desired = json!({"replicas": 2, "paused": false});
        let ours = json!([entry("windlass", "Apply", &json!({"f:paused": {}}))]);
        let zero = object(&json!({"replicas": 0, "paused": false}), &ours);
        check(&rules, &desired, Some(&zero), &json!({"paused": false}), &["spec.replicas"], &[]);
        check(&rules, &desired, Some(&object(&json!({"paused": false}), &ours)), &desired, &[], &[]);
    }

    #[test]
    fn a_field_of_a_list_item_is_left_and_the_item_stays() {
        let rules = rules(&[("spec.c[*].resources", "vpa")], &[]);
        let desired =
            json!({"c": [{"name": "web", "image": "i", "resources": {"cpu": "1"}}, {"name": "db"}]});
        let fields = json!({"f:c": {"k:{\"name\":\"web\"}": {"f:resources": {"f:cpu": {}}}}});
        let live = object(&desired, &json!([entry("vpa", "Update", &fields)]));
        let want = json!({"c": [{"name": "web", "image": "i"}, {"name": "db"}]});
        check(&rules, &desired, Some(&live), &want, &["spec.c[name=web].resources.cpu"], &[]);
    }

    /// kubernetes website issue 29739: a field that nobody else owns falls back to its default when it is not sent.
    #[test]
    fn an_ignored_field_that_we_own_is_sent_as_it_is() {
        let rules = rules(&[], &[("spec.replicas", None)]);
        let desired = json!({"replicas": 2, "paused": false});
        let live = |entries: Value| Some(object(&json!({"replicas": 5}), &entries));
        let ours = entry("windlass", "Apply", &json!({"f:replicas": {}, "f:paused": {}}));
        let want = json!({"replicas": 5, "paused": false});
        check(&rules, &desired, live(json!([ours])).as_ref(), &want, &[], &["spec.replicas"]);
        let theirs = entry("hpa", "Update", &json!({"f:replicas": {}}));
        check(
            &rules,
            &desired,
            live(json!([theirs])).as_ref(),
            &json!({"paused": false}),
            &[],
            &["spec.replicas"],
        );
        // Also when the manifest no longer declares it.
        check(&rules, &json!({"paused": false}), live(json!([ours])).as_ref(), &want, &[], &[]);
    }

    #[test]
    fn a_rule_that_names_a_manager_ignores_only_its_fields() {
        let rules = rules(&[], &[("spec.replicas", Some("hpa"))]);
        let desired = json!({"replicas": 2});
        let live = |manager: &str| {
            object(&json!({"replicas": 5}), &json!([entry(manager, "Update", &json!({"f:replicas": {}}))]))
        };
        check(&rules, &desired, Some(&live("hpa")), &Value::Null, &[], &["spec.replicas"]);
        check(&rules, &desired, Some(&live("kubectl-edit")), &desired, &[], &[]);
    }

    #[test]
    fn rules_that_meant_nothing_are_told() {
        let rules = rules(&[], &[("spec.replicas", None), ("spec.gone", None)]);
        let desired = object(&json!({"replicas": 2}), &Value::Null);
        for live in [None, Some(object(&json!({"replicas": 2}), &json!([])))] {
            let used = sent(&desired, live.as_ref(), &rules).used;
            let warnings = rules.warnings(|rule| used.contains(&rule));
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!(warnings[0].contains("spec.gone"), "{warnings:?}");
        }
    }
}
