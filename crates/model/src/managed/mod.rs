//! What `metadata.managedFields` says: who wrote which fields, how and when.

mod declared;
mod edit;
mod foretell;
mod merge;
mod place;
mod prune;
mod set;
mod step;

use serde_json::Value;

pub use edit::{carry, strip};
pub use foretell::{Foretold, foretell};
pub use merge::{Settle, is_zero};
pub use place::Place;
pub use prune::prune_fields;
pub use set::FieldSet;

use crate::{Conflict, FieldPath, Object};

/// One manager's fields of an object, written in one way.
#[derive(Debug, Clone, Copy)]
pub struct ManagedEntry<'a>(&'a Value);

impl<'a> ManagedEntry<'a> {
    /// Returns all entries of a live object.
    pub fn all(object: &'a Object) -> impl Iterator<Item = Self> {
        let list = object.body().pointer("/metadata/managedFields").and_then(Value::as_array);
        list.into_iter().flatten().map(Self)
    }

    /// Returns the manager.
    pub fn manager(self) -> &'a str {
        self.text("manager")
    }

    /// Returns `Apply` or `Update`.
    pub fn operation(self) -> &'a str {
        self.text("operation")
    }

    /// Returns the subresource through which the manager wrote, such as `scale`; empty for the object itself.
    pub fn subresource(self) -> &'a str {
        self.text("subresource")
    }

    /// Returns when the manager last wrote, if that is known.
    pub fn time(self) -> Option<&'a str> {
        self.0["time"].as_str()
    }

    /// Returns the version in which the fields are named, such as `apps/v1`.
    pub fn api_version(self) -> &'a str {
        self.text("apiVersion")
    }

    /// Returns the fields.
    pub fn fields(self) -> FieldSet {
        FieldSet::of(&self.0["fieldsV1"])
    }

    /// Returns the entry as it is stored.
    pub fn value(self) -> &'a Value {
        self.0
    }

    /// Says whether this is what `manager` owns by server-side apply.
    pub fn is_apply_of(self, manager: &str) -> bool {
        self.manager() == manager && self.operation() == "Apply" && self.subresource().is_empty()
    }

    /// Returns the path of the field that the server calls `name`, as plans print it.
    pub fn path_of(self, name: &str) -> Option<FieldPath> {
        self.fields().paths().find(|path| crate::conflict::is_same_field(&path.to_string(), name))
    }

    /// Returns the conflict of whoever sends another value for a field of this entry.
    pub fn conflict(self, path: &FieldPath) -> Conflict {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Conflict {
            field: path.to_string(),
            manager: self.manager().to_owned(),
            operation: some(self.operation()),
            subresource: some(self.subresource()),
            since: self.time().map(str::to_owned),
        }
    }

    fn text(self, key: &str) -> &'a str {
        self.0[key].as_str().unwrap_or_default()
    }
}
