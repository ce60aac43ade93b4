//! What an object would be after its ownership was migrated and it was applied: no dry-run shows both at once.

use serde_json::{Map, Value, json};
use windlass_cluster::{FIELD_MANAGER, Failure, FailureKind};
use windlass_model::{
    BEFORE_FIRST_APPLY, Emptied, FieldSet, ManagedEntry, Migrated, Migration, Object, Settle, foretell,
    is_built_in, prune_fields,
};

use super::{FieldRules, kept};

/// A migration, and the object as it would be after it and after the apply that follows. Never printed: it may hold a
/// Secret.
pub(crate) struct Foreseen {
    pub(crate) migration: Migration,
    /// The content, which the server has not judged yet.
    content: Value,
    /// The managed fields.
    entries: Vec<Value>,
    /// The migration's own JSON patch.
    patch: Vec<Value>,
    /// Whether the content was merged here, because the server refuses to do it before the migration.
    pub(crate) merged_here: bool,
    /// Whether fields go that the server's own answer still holds, so that it has to be asked again.
    pub(crate) removes: bool,
}

impl Foreseen {
    /// Foresees what follows the server's answer to a dry-run of the apply.
    ///
    /// The answer holds everything but the removals: what the new owner does not declare and nobody else owns goes.
    pub(crate) fn after_answer(
        live: &Object,
        answer: &Object,
        rules: &FieldRules,
        emptied: Emptied,
    ) -> Option<Self> {
        let kept = kept(live, rules);
        let mut migration = Migration::find(answer, |manager| rules.migrates(manager), kept)?;
        if ManagedEntry::all(live).next().is_none() {
            migration.unmanaged = Some(migration.moved(answer, BEFORE_FIRST_APPLY));
        }
        let migrated = migration.of(live, FIELD_MANAGER)?;
        let own = ManagedEntry::all(answer).find(|entry| entry.is_apply_of(FIELD_MANAGER))?;
        let mut content = answer.body().clone();
        let owned = own.fields().union(&migrated.others);
        let removes = !prune_fields(&mut content, &migrated.owned, &owned, emptied).is_empty();
        let entries = entries(&migrated, &own.fields());
        Some(Self { migration, content, entries, patch: migrated.patch(live), merged_here: false, removes })
    }

    /// Foresees what a migration makes possible that the server refuses as things are: a port whose number changes
    /// and whose name stays (kubernetes issue 131147), an entry in a version that cannot be converted (issue 111937). And
    /// what it refuses then: an immutable field that only goes with its owner.
    pub(crate) fn after_refusal(
        live: &Object,
        desired: &Object,
        failure: &Failure,
        rules: &FieldRules,
    ) -> Option<Self> {
        let version = match failure.kind() {
            FailureKind::Invalid | FailureKind::Immutable => None,
            FailureKind::Schema if is_stuck_version(failure) => Some(desired.reference().api_version()),
            _ => return None,
        };
        let kept = kept(live, rules);
        let found = Migration::find(live, |manager| rules.migrates(manager), kept);
        let migration = match version {
            Some(version) => Migration { version: Some(version), ..found.unwrap_or_default() },
            None => found?,
        };
        let migrated = migration.of(live, FIELD_MANAGER)?;
        let mut moved = live.body().clone();
        moved["metadata"]["managedFields"] = migrated.entries.clone().into();
        // As it is declared: what that means, and what is missing, the server says.
        let settle: &Settle<'_> = &|_, _, declared| declared.clone();
        let told = foretell(&live.with_body(moved), desired, FIELD_MANAGER, settle, emptied(live)).object;
        let entries = ManagedEntry::all(&told).map(ManagedEntry::to_value).collect();
        let content = told.into_body();
        let patch = migrated.patch(live);
        Some(Self { migration, content, entries, patch, merged_here: true, removes: true })
    }

    /// Returns the JSON patch that makes the live object what is foreseen, for a dry-run: the server adds defaults and
    /// judges the result.
    pub(crate) fn patch(&self, live: &Object) -> Value {
        let mut patch = self.patch.clone();
        replace(&mut patch, "", live.body(), &self.content, &["apiVersion", "kind", "metadata", "status"]);
        let metadata = |object: &Value| object["metadata"].clone();
        let (before, after) = (metadata(live.body()), metadata(&self.content));
        let only = ["labels", "annotations", "finalizers", "ownerReferences"];
        let pick = |value: &Value| {
            let map = value.as_object().into_iter().flatten();
            let picked = map.filter(|(key, _)| only.contains(&key.as_str()));
            Value::Object(picked.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
        };
        replace(&mut patch, "/metadata", &pick(&before), &pick(&after), &[]);
        Value::Array(patch)
    }

    /// Returns the declared object with null for each map that stays declared and loses its last entry, if there is one: the
    /// server makes null of it when it applies the object, and drops a null of a patch (measured on 1.36).
    pub(crate) fn with_nulls(&self, desired: &Object) -> Option<Object> {
        let mut body = desired.body().clone();
        put_nulls(&mut body, &self.content).then(|| desired.with_body(body))
    }

    /// Returns the object that is foreseen without asking the server again.
    pub(crate) fn unasked(&self, answer: &Object) -> Object {
        self.seen_in(&answer.with_body(self.content.clone()))
    }

    /// Returns an answer of the server as the object that is foreseen.
    pub(crate) fn seen_in(&self, answer: &Object) -> Object {
        let mut body = answer.body().clone();
        body["metadata"]["managedFields"] = Value::Array(self.entries.clone());
        answer.with_body(body)
    }
}

/// Returns what the server makes of an emptied map, where it is asked about the result.
pub(crate) fn emptied(live: &Object) -> Emptied {
    if is_built_in(&live.reference().kind) { Emptied::Absent } else { Emptied::Null }
}

/// Says whether ownership of a live object would move.
pub(crate) fn has_migration(live: &Object, rules: &FieldRules) -> bool {
    Migration::find(live, |manager| rules.migrates(manager), kept(live, rules)).is_some()
}

/// Puts null where an empty map is declared and null is foreseen; says whether there was such a place.
fn put_nulls(declared: &mut Value, foreseen: &Value) -> bool {
    let (Value::Object(declared), Value::Object(foreseen)) = (declared, foreseen) else { return false };
    let mut found = false;
    for (key, value) in declared {
        match (&*value, foreseen.get(key)) {
            (Value::Object(fields), Some(Value::Null)) if fields.is_empty() => {
                *value = Value::Null;
                found = true;
            }
            (_, Some(below)) => found |= put_nulls(value, below),
            _ => {}
        }
    }
    found
}

/// Returns the managed fields at the end: those after the migration, with what will be declared as our own.
fn entries(migrated: &Migrated, own: &FieldSet) -> Vec<Value> {
    let mut entries = migrated.entries.clone();
    for entry in &mut entries {
        if entry["manager"] == FIELD_MANAGER && entry["operation"] == "Apply" {
            entry["fieldsV1"] = own.to_fields();
        }
    }
    entries
}

/// An entry of an older version stands in the way of every apply, whoever wrote it.
fn is_stuck_version(failure: &Failure) -> bool {
    ["failed to prune fields", "failed to convert", "invalid group/version"]
        .iter()
        .any(|wording| failure.message.contains(wording))
}

/// Adds the operations that make one map the other, key by key.
fn replace(patch: &mut Vec<Value>, place: &str, before: &Value, after: &Value, without: &[&str]) {
    let keys = |value: &Value| -> Vec<String> {
        let keys = value.as_object().into_iter().flatten().map(|(key, _)| key.clone());
        keys.filter(|key| !without.contains(&key.as_str())).collect()
    };
    let pointer = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
    for key in keys(after) {
        if before.get(&key) != after.get(&key) {
            patch.push(json!({"op": "add", "path": pointer(&key), "value": after[&key]}));
        }
    }
    for key in keys(before).iter().filter(|key| after.get(key.as_str()).is_none()) {
        patch.push(json!({"op": "remove", "path": pointer(key)}));
    }
}
