//! One manager's fields of an object.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::FieldSet;
use super::text::FieldsText;
use crate::{Conflict, FieldPath, Object};

/// An entry of `metadata.managedFields`, as compact as it can be: there are some for every live object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Stored {
    manager: Box<str>,
    operation: Box<str>,
    subresource: Box<str>,
    time: Option<Box<str>>,
    api_version: Box<str>,
    fields_type: Box<str>,
    fields: Option<FieldsText>,
    /// What other versions of Kubernetes may add.
    rest: Map<String, Value>,
}

impl Stored {
    /// Returns about how long the entry is as JSON.
    pub(crate) fn len(&self) -> usize {
        let names =
            r#"{"manager":"","operation":"","time":"","apiVersion":"","fieldsType":"","fieldsV1":},"#.len();
        let values =
            [&self.manager, &self.operation, &self.subresource, &self.api_version, &self.fields_type];
        names
            + values.iter().map(|value| value.len()).sum::<usize>()
            + self.time.as_ref().map_or(0, |time| time.len())
            + self.fields.as_ref().map_or(0, FieldsText::len)
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut entry = self.rest.clone();
        let texts = [
            ("manager", &self.manager),
            ("operation", &self.operation),
            ("subresource", &self.subresource),
            ("apiVersion", &self.api_version),
            ("fieldsType", &self.fields_type),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        for (key, text) in texts.chain(self.time.as_ref().map(|time| ("time", time))) {
            entry.insert(key.to_owned(), Value::from(&**text));
        }
        entry.extend(self.fields.as_ref().map(|fields| ("fieldsV1".to_owned(), fields.tree())));
        Value::Object(entry)
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Stored;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry of managed fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Stored, A::Error> {
        let mut entry = Stored::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "manager" => entry.manager = map.next_value()?,
                "operation" => entry.operation = map.next_value()?,
                "subresource" => entry.subresource = map.next_value()?,
                "time" => entry.time = map.next_value()?,
                "apiVersion" => entry.api_version = map.next_value()?,
                "fieldsType" => entry.fields_type = map.next_value()?,
                "fieldsV1" => entry.fields = map.next_value()?,
                _ => drop(entry.rest.insert(key, map.next_value()?)),
            }
        }
        Ok(entry)
    }
}

/// One manager's fields of an object, written in one way.
#[derive(Debug, Clone, Copy)]
pub struct ManagedEntry<'a>(&'a Stored);

impl<'a> ManagedEntry<'a> {
    /// Returns all entries of a live object.
    pub fn all(object: &'a Object) -> impl Iterator<Item = Self> {
        object.managed().iter().map(Self)
    }

    /// Returns the manager.
    pub fn manager(self) -> &'a str {
        &self.0.manager
    }

    /// Returns `Apply` or `Update`.
    pub fn operation(self) -> &'a str {
        &self.0.operation
    }

    /// Returns the subresource through which the manager wrote, such as `scale`; empty for the object itself.
    pub fn subresource(self) -> &'a str {
        &self.0.subresource
    }

    /// Returns when the manager last wrote, if that is known.
    pub fn time(self) -> Option<&'a str> {
        self.0.time.as_deref()
    }

    /// Returns the version in which the fields are named, such as `apps/v1`.
    pub fn api_version(self) -> &'a str {
        &self.0.api_version
    }

    /// Returns the fields.
    pub fn fields(self) -> FieldSet {
        FieldSet::of(&self.tree())
    }

    /// Returns the fields as the tree that is stored.
    pub fn tree(self) -> Value {
        self.0.fields.as_ref().map(FieldsText::tree).unwrap_or_default()
    }

    /// Returns the entry as it is stored.
    pub fn to_value(self) -> Value {
        self.0.to_value()
    }

    /// Says whether two entries name the same fields in the same version.
    pub fn owns_the_same(self, other: ManagedEntry<'_>) -> bool {
        self.0.api_version == other.0.api_version && self.0.fields == other.0.fields
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
            last_write: self.time().map(str::to_owned),
            last_write_age: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_given_as_it_was_read() {
        for entry in [
            json!({"manager": "windlass", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-06-15T12:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}),
            json!({"manager": "hpa", "operation": "Update", "subresource": "scale", "addedLater": {"a": [1]}}),
            json!({}),
        ] {
            assert_eq!(serde_json::from_value::<Stored>(entry.clone()).unwrap().to_value(), entry);
        }
    }
}
