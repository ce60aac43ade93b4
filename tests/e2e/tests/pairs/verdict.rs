//! Whether a plan says of an object what the server says.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::delta::{comparable, flaws};
use super::generate::{Origin, Pair};
use super::oracle::{LABEL, MANAGER, Owned, Truth, applied, plain};

/// Managers whose fields are taken over: by a rule of the environment file, or because a person's tool wrote them.
const TAKEN: [&str; 3] = ["keeper", "kubectl-edit", "kubectl-client-side-apply"];

/// What the server calls the source of a volume, whichever it is; a plan names the manifest's field.
const OF_NO_MANIFEST: &str = "spec.persistentvolumesource";

/// What there is to compare with.
pub(crate) struct Case<'a> {
    pub(crate) pair: &'a Pair<'a>,
    /// What the server says to the object as it is.
    pub(crate) here: &'a Truth,
    /// What it says after ownership has moved, told of the twin under this object's names; otherwise the same.
    pub(crate) moved: &'a Truth,
    /// The set's label.
    pub(crate) set: &'a str,
}

impl Case<'_> {
    /// Says whether the twin is what the object will be once ownership has moved.
    pub(crate) fn is_comparable(&self) -> bool {
        let content = |truth: &Truth| {
            let mut content = truth.live.as_ref().map(comparable)?;
            content["spec"]["clusterIP"] = Value::Null;
            content["spec"]["clusterIPs"] = Value::Null;
            content["metadata"]["labels"][LABEL] = Value::Null;
            Some(content)
        };
        let Some(live) = self.here.live.as_ref().filter(|_| self.pair.migrates()) else { return true };
        // Client-side apply owns the defaults of what it creates, until they are not declared: they stay what they are. Not
        // so those of a Job, of which one depends on another and none may change.
        let keeps_defaults = self.pair.origin == Origin::ClientSide && self.pair.kind.kind != "Job";
        let same_owner = || self.moved.live.as_ref().is_some_and(|twin| united(twin) == united(live));
        content(self.here) == content(self.moved)
            && (keeps_defaults || same_owner())
            && !self.is_refused_for_what_goes()
    }

    /// Returns in which way a planned action is not what the server says.
    pub(crate) fn disagreements(&self, action: &Value) -> Vec<String> {
        let answer = self.moved.answer();
        let mut found = match answer.status {
            201 => self.operation(action, "create"),
            200 => self.change(action),
            _ => self.refusal(action),
        };
        // What the server refuses as long as ownership has not moved, Windlass can only work out itself.
        let waits = self.pair.migrates() && !self.here.answer().is_ok() && answer.is_ok();
        if !waits && action["preview"]["verified"] != "server" {
            found.push(format!("it is previewed {}", action["preview"]));
        }
        let answer = self.moved.answer();
        let told = action["warnings"].as_array().map_or(&[][..], Vec::as_slice);
        if answer.is_ok() && self.pair.kind.kind != "Secret" {
            let silent = answer.warnings.iter().filter(|warning| !told.iter().any(|told| told == *warning));
            found.extend(silent.map(|warning| format!("the server warns: {warning}; told are {told:?}")));
        }
        found
    }

    fn operation(&self, action: &Value, want: &str) -> Vec<String> {
        let mut found = Vec::new();
        if action["operation"] != want {
            found.push(format!("{want} is told as {}", action["operation"]));
        }
        let blocked: BTreeSet<Owned> = self
            .here
            .conflicts()
            .into_iter()
            .filter(|(_, manager)| !TAKEN.contains(&manager.as_str()))
            .collect();
        let told = owned(&action["problem"]["fields"]);
        if told != blocked {
            found.push(format!("the server sees conflicts {blocked:?}, told are {told:?}"));
        }
        if blocked.is_empty() && !action["problem"].is_null() {
            found.push(format!("the server accepts it, told is {}", action["problem"]));
        }
        let mut taken = self.here.conflicts();
        taken.retain(|(_, manager)| TAKEN.contains(&manager.as_str()));
        let told = owned(&action["takesOver"]);
        if told != taken {
            found.push(format!("taken from others is {taken:?}, told is {told:?}"));
        }
        found
    }

    fn change(&self, action: &Value) -> Vec<String> {
        let (Some(live), answer) = (&self.here.live, &self.moved.answer().body) else {
            return vec!["there is nothing to change".to_owned()];
        };
        let (before, mut after) = (comparable(live), comparable(answer));
        for address in ["/spec/clusterIP", "/spec/clusterIPs"] {
            if let (true, Some(ours), Some(twin)) =
                (self.pair.migrates(), before.pointer(address), after.pointer_mut(address))
            {
                *twin = ours.clone();
            }
        }
        let own = self.moved.live.as_ref().and_then(|live| applied(live, MANAGER));
        let is_delivered = applied(live, MANAGER).is_some() && live["metadata"]["labels"][LABEL] == self.set;
        let moves = self.pair.migrates() && is_owned_by_a_person(live);
        // Somebody else may have written the same value in other words.
        let conflicts = !self.here.conflicts().is_empty();
        let want = if !is_delivered {
            "adopt"
        } else if before != after || own != applied(answer, MANAGER) || moves || conflicts {
            "update"
        } else {
            "no-op"
        };
        let mut found = self.operation(action, want);
        found.extend(flaws(&action["delta"], &before, &after));
        found
    }

    fn refusal(&self, action: &Value) -> Vec<String> {
        let answer = self.moved.answer();
        let is_custom_wording = answer.status == 403;
        let told = action["problem"]["problem"].as_str().unwrap_or("no problem");
        let want: &[&str] = match (answer.status, self.moved.is_refused_as_a_change()) {
            (422, Some(true)) => &["immutable"],
            (422, None) => &["immutable", "invalid"],
            (400 | 422 | 500, _) => &["invalid"],
            _ if is_custom_wording => &["denied", "forbidden"],
            _ => &["other"],
        };
        let words = || format!("the server: {} {}", answer.status, answer.message());
        let mut found = Vec::new();
        if !want.contains(&told) {
            found.push(format!("{want:?} is told as {told}: {}; {}", action["problem"], words()));
        }
        if (action["operation"] == "recreate") != (told == "immutable" && self.here.live.is_some()) {
            found.push(format!("{told} is told as {}", action["operation"]));
        }
        let said = [&action["problem"]["causes"], &action["problem"]["paths"], &action["warnings"]];
        let said = plain(&said.map(Value::to_string).concat());
        let named = answer.causes().iter().filter_map(|cause| cause["field"].as_str());
        let counts = |field: &&str| {
            !field.starts_with('<') && *field != OF_NO_MANIFEST && !self.goes_with_its_owner(field)
        };
        for field in named.filter(counts) {
            let meets =
                |path: &Value| path.as_str().is_some_and(|path| plain(path).starts_with(&plain(field)));
            let below = action["problem"]["paths"].as_array().is_some_and(|paths| paths.iter().any(meets));
            if !below && !said.contains(&plain(field)) {
                found.push(format!("nothing is said about {field}: {}; {}", action["problem"], words()));
            }
        }
        found
    }
}

impl Case<'_> {
    /// Says whether the twin is refused for nothing but defaults that stay there alone.
    fn is_refused_for_what_goes(&self) -> bool {
        let answer = self.moved.answer();
        let causes = answer.causes();
        let mut fields = causes.iter().filter_map(|cause| cause["field"].as_str());
        !answer.is_ok() && !causes.is_empty() && fields.all(|field| self.goes_with_its_owner(field))
    }

    /// Says whether a field is a default that client-side apply owns, and that goes once Windlass owns it and does not
    /// declare it. On the twin nobody owns it any more, so there it stays.
    fn goes_with_its_owner(&self, field: &str) -> bool {
        let is_owned = |truth: &Truth| {
            let owned = truth.live.as_ref().map(united).unwrap_or_default();
            let pointer = format!("/f:{}", field.replace('.', "/f:"));
            owned.pointer(&pointer).is_some()
        };
        self.pair.origin == Origin::ClientSide && is_owned(self.here) && !is_owned(self.moved)
    }
}

/// Returns the class by which pairs are counted.
pub(crate) fn class(action: &Value) -> String {
    let operation = action["operation"].as_str().unwrap_or_default();
    let problem = action["problem"]["problem"].as_str().unwrap_or_default();
    let taken = if action["takesOver"].is_null() { "" } else { " taking" };
    let migrated = if action["migration"].is_null() { "" } else { " migrating" };
    format!("{operation}{taken}{migrated} {problem}").trim_end().to_owned()
}

/// Returns what Windlass and people's tools own together.
fn united(object: &Value) -> Value {
    let is_ours = |entry: &Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    let mut all = Map::new();
    for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
        if is_ours(entry) || is_of_a_person(entry) {
            unite(&mut all, &entry["fieldsV1"]);
        }
    }
    Value::Object(all)
}

fn unite(all: &mut Map<String, Value>, fields: &Value) {
    for (key, below) in fields.as_object().into_iter().flatten() {
        if key != "." && !key.ends_with("/last-applied-configuration") {
            let place = all.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            unite(place.as_object_mut().unwrap(), below);
        }
    }
}

/// Says whether ownership is to move: fields are owned by what a person's tool wrote.
fn is_owned_by_a_person(object: &Value) -> bool {
    let entries = object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    entries.iter().any(is_of_a_person)
}

fn is_of_a_person(entry: &Value) -> bool {
    entry["operation"] == "Update"
        && TAKEN[1..].iter().any(|manager| entry["manager"] == *manager)
        && entry["subresource"].is_null()
}

fn owned(conflicts: &Value) -> BTreeSet<Owned> {
    let read = |conflict: &Value| {
        Some((plain(conflict["field"].as_str()?), conflict["manager"].as_str()?.to_owned()))
    };
    conflicts.as_array().into_iter().flatten().filter_map(read).collect()
}
