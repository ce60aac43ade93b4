//! What a server-side apply would make of a live object, as far as its managed fields tell (structured-merge-diff,
//! `merge/update.go`).

use serde_json::{Value, json};

use super::merge::{Merge, Settle};
use super::place::Place;
use super::{Emptied, FieldSet, ManagedEntry, declared, prune_fields};
use crate::{Conflict, Object, is_built_in};

/// A live object as it would be after an apply by force, without what admission and defaulting would add.
#[derive(Debug, Clone)]
pub struct Foretold {
    /// The object, with its managed fields.
    pub object: Object,
    /// The fields with other values that other managers own, and would lose.
    pub conflicts: Vec<Conflict>,
}

/// Foretells what applying `desired` as `manager` would make of a live object.
///
/// How lists and maps are merged is taken from the managed fields of the live object: they name the keys of list items,
/// and stop where a value is owned as a whole. `settle` says which values mean the same, `emptied` what becomes of a
/// declared map without entries.
pub fn foretell(
    live: &Object,
    desired: &Object,
    manager: &str,
    settle: &Settle<'_>,
    emptied: Emptied,
) -> Foretold {
    let built_in = is_built_in(&live.reference().kind);
    let own = ManagedEntry::all(live).find(|entry| entry.is_apply_of(manager));
    let before = own.map(ManagedEntry::fields);
    let all = ManagedEntry::all(live)
        .fold(FieldSet::default(), |all, entry| all.union(&entry.fields()))
        .to_fields();
    let own_fields = before.as_ref().map(FieldSet::to_fields);
    let root = Place::root(&all, own_fields.as_ref());
    let wanted = declared::ownable(desired.body(), root.field("status").is_owned());
    let declared = FieldSet::of(&declared::tree(&root, &wanted, built_in));
    let merge = Merge { built_in, settle };
    let mut body = match live.body() {
        Value::Object(fields) => merge.map(&root, fields, &wanted),
        other => other.clone(),
    };
    let changed = declared.differing(live.body(), &body);
    let mut conflicts = Vec::new();
    let mut others = FieldSet::default();
    let mut entries = Vec::new();
    for entry in ManagedEntry::all(live).filter(|entry| !entry.is_apply_of(manager)) {
        let fields = entry.fields();
        let lost = fields.intersection(&changed);
        conflicts.extend(lost.paths().map(|path| entry.conflict(&path)));
        let left = fields.difference(&lost);
        let mut value = entry.to_value();
        if !lost.is_empty() {
            value["fieldsV1"] = left.to_fields();
        }
        entries.extend((!left.is_empty()).then_some(value));
        others = others.union(&left);
    }
    if let Some(before) = &before {
        // Nobody owns an object's name, and what holds it never goes.
        let name = FieldSet::of(&json!({"f:metadata": {"f:name": {}}}));
        prune_fields(&mut body, before, &declared.union(&others).union(&name), emptied);
    }
    entries.extend((!declared.is_empty()).then(|| {
        let kept = own.filter(|_| before.as_ref() == Some(&declared)).map(ManagedEntry::tree);
        json!({
            "manager": manager,
            "operation": "Apply",
            "apiVersion": desired.reference().api_version(),
            "fieldsType": "FieldsV1",
            "fieldsV1": kept.unwrap_or_else(|| declared.to_fields()),
        })
    }));
    body["metadata"]["managedFields"] = Value::Array(entries);
    Foretold { object: live.with_body(body), conflicts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: &str = "k:{\"name\":\"web\"}";
    const SIDE: &str = "k:{\"name\":\"side\"}";

    fn object(fields: &Value, entries: &Value) -> Object {
        let mut body = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "managedFields": entries}});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        Object::new(body, None).unwrap()
    }

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
            "fieldsV1": fields})
    }

    fn ours(fields: &Value) -> Value {
        entry("windlass", "Apply", fields)
    }

    /// Checks the object afterwards, what conflicts, and whether our ownership stays as it is.
    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn check(live: Value, entries: &Value, desired: Value, want: Value, conflicts: &[&str], keeps: bool) {
        let strict = |_: &Place<'_>, _: &Value, declared: &Value| declared.clone();
        let (live, desired) =
            (object(&json!({"spec": live}), entries), object(&json!({"spec": desired}), &json!([])));
        let told = foretell(&live, &desired, "windlass", &strict, Emptied::Absent);
        assert_eq!(told.object.body()["spec"], want);
        let fields: Vec<String> = told.conflicts.iter().map(|conflict| conflict.field.clone()).collect();
        assert_eq!(fields, conflicts);
        let own = |object: &Object| crate::apply_entry(object, "windlass").map(ManagedEntry::tree);
        assert_eq!(own(&live) == own(&told.object), keeps, "{:?}", own(&told.object));
    }

    #[test]
    fn what_is_not_declared_stays_and_what_is_not_declared_any_more_goes() {
        let entries = json!([ours(&json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}))]);
        let live = json!({"replicas": 2, "paused": true, "defaulted": 1});
        check(live.clone(), &entries, json!({"replicas": 2, "paused": true}), live.clone(), &[], true);
        check(
            live.clone(),
            &entries,
            json!({"replicas": 3, "paused": true}),
            json!({"replicas": 3, "paused": true, "defaulted": 1}),
            &[],
            true,
        );
        check(live, &entries, json!({"replicas": 2}), json!({"replicas": 2, "defaulted": 1}), &[], false);
    }

    #[test]
    fn what_somebody_else_owns_conflicts_or_stays() {
        let theirs = entry("hpa", "Update", &json!({"f:spec": {"f:replicas": {}}}));
        let entries = json!([ours(&json!({"f:spec": {"f:paused": {}}})), theirs]);
        let live = json!({"replicas": 5, "paused": true});
        check(
            live.clone(),
            &entries,
            json!({"replicas": 2, "paused": true}),
            json!({"replicas": 2, "paused": true}),
            &["spec.replicas"],
            false,
        );
        check(live.clone(), &entries, json!({"replicas": 5, "paused": true}), live.clone(), &[], false);
        let both = json!([ours(&json!({"f:spec": {"f:paused": {}, "f:replicas": {}}})), theirs]);
        check(live.clone(), &both, json!({"paused": true}), live, &[], false);
    }

    #[test]
    fn lists_with_keys_are_merged_item_by_item() {
        let containers = |below: Value| json!({"f:spec": {"f:containers": below}});
        let item = |more: &str| json!({".": {}, "f:name": {}, (format!("f:{more}")): {}});
        let entries = json!([
            ours(&containers(json!({WEB: item("image")}))),
            entry("kubectl-edit", "Update", &containers(json!({SIDE: item("image")})))
        ]);
        let web = json!({"name": "web", "image": "1", "defaulted": true});
        let side = json!({"name": "side", "image": "2"});
        let live = json!({"containers": [side, web]});
        check(
            live.clone(),
            &entries,
            json!({"containers": [{"name": "web", "image": "1"}]}),
            live.clone(),
            &[],
            true,
        );
        // Taking the item over changes ownership, and its value conflicts.
        check(
            live.clone(),
            &entries,
            json!({"containers": [{"name": "web", "image": "1"}, {"name": "side", "image": "3"}]}),
            json!({"containers": [web, {"name": "side", "image": "3"}]}),
            &["spec.containers[name=side].image"],
            false,
        );
        check(live, &entries, json!({"containers": []}), json!({"containers": [side]}), &[], false);
    }

    #[test]
    fn items_of_others_keep_their_place() {
        let sets = |values: &[&str]| {
            let keys = values
                .iter()
                .map(|value| (format!("v:\"{value}\""), json!({})))
                .collect::<serde_json::Map<_, _>>();
            json!({"f:spec": {"f:set": keys}})
        };
        let entries = json!([ours(&sets(&["a", "b", "c"])), entry("x", "Update", &sets(&["x", "y"]))]);
        let check = |live: &[&str], desired: &[&str], want: &[&str], keeps| {
            check(json!({"set": live}), &entries, json!({"set": desired}), json!({"set": want}), &[], keeps);
        };
        check(&["a", "x", "b", "c", "y"], &["a", "b", "c"], &["a", "x", "b", "c", "y"], true);
        check(&["a", "x", "b", "c", "y"], &["c", "b", "a"], &["x", "c", "y", "b", "a"], true);
        check(&["a", "x", "b", "c", "y"], &["a", "n", "c"], &["a", "x", "n", "c", "y"], false);
    }

    #[test]
    fn a_port_without_a_protocol_is_the_one_with_the_default() {
        let key = "k:{\"port\":80,\"protocol\":\"TCP\"}";
        let entries = json!([ours(&json!({"f:spec": {"f:ports": {key: {".": {}, "f:port": {}}}}}))]);
        let live = json!({"ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]});
        check(live.clone(), &entries, json!({"ports": [{"port": 80}]}), live, &[], true);
    }

    #[test]
    fn an_object_that_declares_nothing_keeps_its_name() {
        let entries = json!([ours(&json!({"f:metadata": {"f:labels": {"f:a": {}}}}))]);
        check(json!({}), &entries, json!({}), json!({}), &[], false);
    }

    #[test]
    fn what_the_server_left_out_is_no_difference() {
        let entries = json!([ours(&json!({"f:spec": {"f:paused": {}, "f:tolerations": {}}}))]);
        check(json!({}), &entries, json!({"paused": false, "tolerations": []}), json!({}), &[], true);
    }
}
