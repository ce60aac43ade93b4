//! What the server itself says to a desired object, asked without Windlass.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_e2e::{Raw, Reply};

use super::kinds::Kind;

/// The field manager of Windlass, and of the twin that kubectl applies.
pub(crate) const MANAGER: &str = "windlass";
pub(crate) const LABEL: &str = "applyset.kubernetes.io/part-of";
const APPLY: &str = "application/apply-patch+yaml";

/// The server's answers about one object.
#[derive(Clone)]
pub(crate) struct Truth {
    pub(crate) live: Option<Value>,
    /// To the dry-run without force.
    first: Reply,
    /// To the dry-run with force, where there were conflicts.
    forced: Option<Reply>,
    /// Where the change is refused: to the creation of the same object under a new name.
    fresh: Option<Reply>,
    /// And to the replacement of the live object by the desired one, with nothing merged.
    replaced: Option<Reply>,
}

/// A field that another manager owns: its path without punctuation, and the manager.
pub(crate) type Owned = (String, String);

/// Sends one server-side apply.
pub(crate) fn apply(raw: &Raw, kind: &Kind, object: &Value, manager: &str, options: &str) -> Reply {
    let path = format!("{}?fieldManager={manager}&fieldValidation=Strict&{options}", kind.path(object));
    raw.send("PATCH", &path, APPLY, object)
}

impl Truth {
    /// Asks what becomes of a desired object.
    pub(crate) fn ask(raw: &Raw, kind: &Kind, desired: &Value) -> Self {
        let live = Some(raw.get(&kind.path(desired))).filter(Reply::is_ok).map(|reply| reply.body);
        let first = apply(raw, kind, desired, MANAGER, "force=false&dryRun=All");
        let forced = (!conflicts(&first).is_empty())
            .then(|| apply(raw, kind, desired, MANAGER, "force=true&dryRun=All"));
        let refused = !forced.as_ref().unwrap_or(&first).is_ok();
        let is_change = refused && live.is_some() && kind.name.is_none();
        let fresh = is_change.then(|| {
            let mut fresh = desired.clone();
            let name = fresh["metadata"]["name"].as_str().unwrap_or_default();
            fresh["metadata"]["name"] = Value::from(format!("{name}-anew"));
            apply(raw, kind, &fresh, MANAGER, "force=false&dryRun=All")
        });
        let replaced = is_change.then(|| {
            let path = format!("{}?dryRun=All", kind.path(desired));
            let mut desired = desired.clone();
            let version = live.as_ref().map(|live| live["metadata"]["resourceVersion"].clone());
            desired["metadata"]["resourceVersion"] = version.unwrap_or_default();
            raw.send("PUT", &path, "application/json", &desired)
        });
        Self { live, first, forced, fresh, replaced }
    }

    /// Returns the same about an object under other names.
    pub(crate) fn map(self, rename: impl Fn(&Value) -> Value) -> Self {
        let reply = |reply: Reply| Reply { body: rename(&reply.body), ..reply };
        Self {
            live: self.live.map(|live| rename(&live)),
            first: reply(self.first),
            forced: self.forced.map(&reply),
            fresh: self.fresh.map(&reply),
            replaced: self.replaced.map(&reply),
        }
    }

    /// Returns the answer that counts.
    pub(crate) fn answer(&self) -> &Reply {
        self.forced.as_ref().unwrap_or(&self.first)
    }

    /// Returns the fields that other managers own with other values.
    pub(crate) fn conflicts(&self) -> BTreeSet<Owned> {
        conflicts(&self.first)
    }

    /// Returns the version of the live object.
    pub(crate) fn version(&self) -> &str {
        self.live.as_ref().and_then(|live| live["metadata"]["resourceVersion"].as_str()).unwrap_or_default()
    }

    /// Says why a change is refused, if that can be told: because it is a change, or because of what comes out.
    pub(crate) fn is_refused_as_a_change(&self) -> Option<bool> {
        let (fresh, replaced) = (self.fresh.as_ref()?, self.replaced.as_ref()?);
        let (in_replaced, all) = (causes(replaced), causes(self.answer()));
        match (fresh.is_ok(), replaced.is_ok()) {
            // It is wrong only once it is merged with fields that others own.
            (true, true) => Some(false),
            (true, false) => all.iter().all(|cause| in_replaced.contains(cause)).then_some(true),
            (false, _) => (fresh.causes() == self.answer().causes()).then_some(false),
        }
    }
}

/// Returns the causes of a refusal, without the values that they print.
fn causes(reply: &Reply) -> Vec<(String, String)> {
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let read = |cause: &Value| (text(cause, "field"), text(cause, "reason"));
    let mut causes: Vec<_> = reply.causes().iter().map(read).collect();
    causes.sort();
    causes
}

fn conflicts(reply: &Reply) -> BTreeSet<Owned> {
    let conflicts = reply.causes().iter().filter(|cause| cause["reason"] == "FieldManagerConflict");
    let read = |cause: &Value| {
        let manager = cause["message"].as_str()?.split('"').nth(1)?.to_owned();
        Some((plain(cause["field"].as_str()?), manager))
    };
    conflicts.filter_map(read).collect()
}

/// Returns a path without punctuation: the server and plans write it differently.
pub(crate) fn plain(path: &str) -> String {
    path.chars().filter(|c| !matches!(c, '.' | '[' | ']' | '"')).collect()
}

/// Returns the fields that a manager owns by server-side apply, with the version they are written in.
pub(crate) fn applied(object: &Value, manager: &str) -> Option<Value> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let ours = |entry: &&Value| entry["manager"] == manager && entry["operation"] == "Apply";
    entries
        .iter()
        .find(ours)
        .map(|entry| Value::from(vec![entry["apiVersion"].clone(), entry["fieldsV1"].clone()]))
}

/// Sets the label by which a set knows its members.
pub(crate) fn labelled(object: &Value, set: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["labels"][LABEL] = Value::from(set);
    object
}
