//! Moving the ownership of fields from tools that applied on the client's side to server-side apply.
//!
//! The server removes a field that is no longer declared only if nobody else owns it, and a client-side apply
//! leaves an `Update` entry that owns it for ever (kubectl issue 1796). What is done here is what client-go's
//! `csaupgrade` does: those entries are united with the `Apply` entry of the new manager, and go.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{FieldSet, ManagedEntry, Object};

/// The manager that the server invents for objects that are older than managed fields.
pub const BEFORE_FIRST_APPLY: &str = "before-first-apply";

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Ownership that moves to Windlass before an object is applied. It changes no field and is safe to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// From whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<MigratedManager>,
    /// The version that all entries are rewritten to, where entries of an older one stand in the server's way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What stays with its managers. Part of no written form.
    #[serde(skip)]
    pub kept: FieldSet,
    /// What moves from an object that has no managed fields at all. Part of no written form.
    #[serde(skip)]
    pub unmanaged: Option<FieldSet>,
}

/// A manager whose fields move to Windlass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MigratedManager {
    /// The manager.
    pub manager: String,
    /// When it last wrote, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_write: Option<String>,
}

/// The managed fields of an object after a migration.
#[derive(Debug, Clone, PartialEq)]
pub struct Migrated {
    /// The entries, as they are written.
    pub entries: Vec<Value>,
    /// What the new manager owns then.
    pub owned: FieldSet,
    /// What all others own then.
    pub others: FieldSet,
}

impl Migration {
    /// Finds what is to move from an object as it is, or as a dry-run says it would be.
    ///
    /// `from` says of which managers; what `kept` holds stays with them. Only what the last client-side apply
    /// declared moves from `before-first-apply`, which stands for everybody, controllers included.
    pub fn find(object: &Object, from: impl Fn(&str) -> bool, kept: FieldSet) -> Option<Self> {
        let mut managers = Vec::new();
        for entry in ManagedEntry::all(object).filter(|entry| is_update(*entry)) {
            let named =
                from(entry.manager()) || entry.manager() == BEFORE_FIRST_APPLY || is_client_side(entry);
            if named && !movable(entry, object).difference(&kept).is_empty() {
                let last_write = entry.time().map(str::to_owned);
                managers.push(MigratedManager { manager: entry.manager().to_owned(), last_write });
            }
        }
        (!managers.is_empty()).then_some(Self { managers, version: None, kept, unmanaged: None })
    }

    /// Returns what moves from one manager's `Update` entry.
    pub fn moved(&self, object: &Object, manager: &str) -> FieldSet {
        let entry = ManagedEntry::all(object).find(|entry| is_update(*entry) && entry.manager() == manager);
        entry.map(|entry| movable(entry, object).difference(&self.kept)).unwrap_or_default()
    }

    /// Returns the managed fields of a live object after the migration to `manager`, or `None` if they are so already.
    ///
    /// An entry that names its fields in another version than the one they move to stays as it is.
    pub fn of(&self, live: &Object, manager: &str) -> Option<Migrated> {
        let entries: Vec<ManagedEntry<'_>> = ManagedEntry::all(live).collect();
        let own = entries.iter().find(|entry| entry.is_apply_of(manager));
        let moves = |entry: &&ManagedEntry<'_>| {
            is_update(**entry) && self.managers.iter().any(|from| from.manager == entry.manager())
        };
        let latest = entries.iter().filter(moves).max_by_key(|entry| entry.time());
        let model = own.or(latest);
        let version =
            model.map_or_else(|| live.reference().api_version(), |entry| entry.api_version().to_owned());
        let mut owned = own.map(|entry| entry.fields()).unwrap_or_default();
        let mut others = FieldSet::default();
        let mut kept_entries = Vec::new();
        if let (true, Some(unmanaged)) = (entries.is_empty(), &self.unmanaged) {
            owned = unmanaged.clone();
        }
        for entry in entries.iter().filter(|entry| !entry.is_apply_of(manager)) {
            let fields = entry.fields();
            let taken = if moves(&entry) && entry.api_version() == version {
                movable(*entry, live).difference(&self.kept)
            } else {
                FieldSet::default()
            };
            let left = fields.difference(&taken);
            owned = owned.union(&taken);
            others = others.union(&left);
            if !left.is_empty() || taken.is_empty() {
                let mut value = entry.to_value();
                if !taken.is_empty() {
                    value["fieldsV1"] = left.to_fields();
                }
                kept_entries.push(value);
            }
        }
        let mut entries_after = kept_entries;
        if !owned.is_empty() {
            entries_after.push(json!({
                "manager": manager,
                "operation": "Apply",
                "apiVersion": version,
                "fieldsType": "FieldsV1",
                "fieldsV1": owned.to_fields(),
            }));
            if let (Some(time), Some(entry)) =
                (model.and_then(|entry| entry.time()), entries_after.last_mut())
            {
                entry["time"] = Value::from(time);
            }
        }
        if let Some(version) = &self.version {
            for entry in &mut entries_after {
                entry["apiVersion"] = Value::from(version.as_str());
            }
        }
        let before: Vec<Value> = entries.iter().map(|entry| entry.to_value()).collect();
        let same =
            before.len() == entries_after.len() && entries_after.iter().all(|entry| before.contains(entry));
        (!same).then_some(Migrated { entries: entries_after, owned, others })
    }
}

impl Migrated {
    /// Returns the JSON patch (RFC 6902) that writes the entries and nothing else, if the object is still the one that
    /// was read: a replaced `resourceVersion` that is stale is refused with 409.
    pub fn patch(&self, live: &Object) -> Vec<Value> {
        vec![
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": live.resource_version()}),
            json!({"op": "add", "path": "/metadata/managedFields", "value": self.entries}),
        ]
    }

    /// Says whether an answer holds the entries: the server ignores what it does not understand.
    pub fn is_in(&self, answer: &Object) -> bool {
        let essence = |entry: &Value| {
            ["manager", "operation", "subresource", "apiVersion", "fieldsV1"].map(|key| entry[key].clone())
        };
        let found: Vec<[Value; 5]> =
            ManagedEntry::all(answer).map(|entry| essence(&entry.to_value())).collect();
        found.len() == self.entries.len() && self.entries.iter().all(|entry| found.contains(&essence(entry)))
    }
}

fn is_update(entry: ManagedEntry<'_>) -> bool {
    entry.operation() == "Update" && entry.subresource().is_empty()
}

/// Says whether kubectl wrote its annotation with the entry, whatever it called itself then.
fn is_client_side(entry: ManagedEntry<'_>) -> bool {
    entry.manager().starts_with("kubectl")
        && entry.fields().paths().any(|path| path.to_string().contains(LAST_APPLIED))
}

fn movable(entry: ManagedEntry<'_>, object: &Object) -> FieldSet {
    if entry.manager() != BEFORE_FIRST_APPLY {
        return entry.fields();
    }
    let declared = object.annotation(LAST_APPLIED).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let fields = entry.fields();
    let annotation = fields.filter(|path| path.to_string().contains(LAST_APPLIED));
    declared.map(|declared| fields.within(&declared).union(&annotation)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(annotations: &Value, entries: &Value) -> Object {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b",
            "resourceVersion": "7", "annotations": annotations, "managedFields": entries}});
        Object::new(body, None).unwrap()
    }

    fn entry(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
            "fieldsV1": fields})
    }

    /// Migrates `kubectl-client-side-apply` and `kubectl-edit`, as client-go's csaupgrade does.
    fn check(entries: &Value, kept: &Value, want: Option<&Value>) {
        let object = object(&json!({}), entries);
        let from = |manager: &str| matches!(manager, "kubectl-client-side-apply" | "kubectl-edit");
        let migration = Migration::find(&object, from, FieldSet::of(kept));
        let migrated = migration.and_then(|migration| migration.of(&object, "windlass"));
        assert_eq!(migrated.map(|migrated| Value::from(migrated.entries)).as_ref(), want);
    }

    #[test]
    fn entries_of_client_side_managers_are_united_with_ours() {
        let data = |keys: &[&str]| {
            let keys =
                keys.iter().map(|key| (format!("f:{key}"), json!({}))).collect::<serde_json::Map<_, _>>();
            json!({"f:data": keys})
        };
        let none = json!({});
        let csa = |keys: &[&str]| entry("kubectl-client-side-apply", "Update", "v1", &data(keys));
        let ours = |keys: &[&str]| entry("windlass", "Apply", "v1", &data(keys));
        check(&json!([csa(&["a"])]), &none, Some(&json!([ours(&["a"])])));
        check(&json!([ours(&["a"]), csa(&["a", "b"])]), &none, Some(&json!([ours(&["a", "b"])])));
        let edit = entry("kubectl-edit", "Update", "v1", &data(&["c"]));
        check(&json!([csa(&["a"]), edit]), &none, Some(&json!([ours(&["a", "c"])])));
        // Controllers, other appliers, subresources and other versions keep what they own.
        let operator = entry("some-operator", "Update", "v1", &data(&["b"]));
        let applier = entry("kubectl", "Apply", "v1", &data(&["b"]));
        let mut scale = csa(&["c"]);
        scale["subresource"] = "scale".into();
        let older = entry("kubectl-edit", "Update", "v1beta1", &data(&["d"]));
        let others = [operator, applier, scale, older];
        let mut before = others.to_vec();
        before.push(ours(&["a"]));
        check(&json!(before), &none, None);
        before.push(csa(&["b"]));
        let mut after = others.to_vec();
        after.push(ours(&["a", "b"]));
        check(&json!(before), &none, Some(&json!(after)));
        // What a rule keeps stays.
        check(&json!([csa(&["a", "b"])]), &data(&["b"]), Some(&json!([csa(&["b"]), ours(&["a"])])));
        check(&json!([csa(&["b"])]), &data(&["b"]), None);
    }

    /// The invented manager owns what controllers wrote, too: only what kubectl declared may move.
    #[test]
    fn of_the_invented_manager_only_what_kubectl_declared_moves() {
        let fields = json!({"f:data": {"f:a": {}, "f:b": {}}, "f:metadata": {"f:annotations": {
            "f:controller.example/state": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}}});
        let entries = json!([entry(BEFORE_FIRST_APPLY, "Update", "v1", &fields)]);
        let annotations = json!({LAST_APPLIED: "{\"data\":{\"a\":\"1\"}}"});
        let object_with = object(&annotations, &entries);
        let migration = Migration::find(&object_with, |_| false, FieldSet::default()).unwrap();
        let migrated = migration.of(&object_with, "windlass").unwrap();
        let owned: Vec<String> = migrated.owned.leaves().map(|path| path.to_string()).collect();
        assert_eq!(owned, ["data.a", &format!("metadata.annotations[\"{LAST_APPLIED}\"]")]);
        let left: Vec<String> = migrated.others.leaves().map(|path| path.to_string()).collect();
        assert_eq!(left, ["data.b", "metadata.annotations[\"controller.example/state\"]"]);
        assert!(Migration::find(&object(&json!({}), &entries), |_| false, FieldSet::default()).is_none());
    }

    #[test]
    fn entries_of_an_older_version_are_rewritten() {
        let entries = json!([
            entry("windlass", "Apply", "x.dev/v1", &json!({"f:spec": {"f:a": {}}})),
            entry("operator", "Update", "x.dev/v1", &json!({"f:status": {}})),
        ]);
        let object = object(&json!({}), &entries);
        let migration = Migration { version: Some("x.dev/v2".into()), ..Migration::default() };
        let migrated = migration.of(&object, "windlass").unwrap();
        assert!(migrated.entries.iter().all(|entry| entry["apiVersion"] == "x.dev/v2"), "{migrated:?}");
        assert_eq!(migrated.entries.len(), 2);
        let done = object.with_body({
            let mut body = object.body().clone();
            body["metadata"]["managedFields"] = Value::from(migrated.entries);
            body
        });
        assert!(migration.of(&done, "windlass").is_none(), "it is safe to repeat");
    }
}
