//! What an object says, its managed fields apart from the rest.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::head::Head;
use crate::managed::Stored;

const METADATA: &str = "metadata";
const MANAGED: &str = "managedFields";

/// The content of an object. It can be read from JSON without a tree of its managed fields ever being made.
///
/// Folded it is text, which takes a fifth of the memory of a tree. The tree is made when somebody looks, and stays as
/// long as this content does.
#[derive(Clone, Default)]
pub struct Content {
    /// Everything but the managed fields, as compact JSON with sorted keys.
    text: Option<Arc<[u8]>>,
    /// What is asked of every object; there where the text is.
    head: Option<Arc<Head>>,
    /// The same as a tree.
    body: OnceLock<Value>,
    managed: Arc<[Stored]>,
}

impl Content {
    /// Gives the object a type if it has none, or only that of a list of metadata: items of lists do not carry their own.
    pub fn typed(&mut self, api_version: &str, kind: &str) {
        let known = &self.body()["kind"];
        if known.is_null() || known == "PartialObjectMetadata" {
            self.change(|body| {
                body["apiVersion"] = Value::from(api_version);
                body["kind"] = Value::from(kind);
            });
        }
    }

    /// Returns the content as text alone.
    pub(crate) fn folded(&self) -> Self {
        let text = self.text.clone().unwrap_or_else(|| self.body().to_string().into_bytes().into());
        let head = self.head.clone().unwrap_or_else(|| Arc::new(Head::of(self.body())));
        Self { text: Some(text), head: Some(head), body: OnceLock::new(), managed: self.managed.clone() }
    }

    /// Returns what is known of folded content without reading its text.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.head.as_deref()
    }

    /// Returns the content with another body; managed fields in the body take the place of its own.
    pub(crate) fn with_body(&self, mut body: Value) -> Self {
        let managed = take_managed(&mut body).unwrap_or_else(|| self.managed.clone());
        Self { text: None, head: None, body: body.into(), managed }
    }

    /// Returns everything but the managed fields.
    pub(crate) fn body(&self) -> &Value {
        let read = || self.text.as_ref().and_then(|text| serde_json::from_slice(text).ok());
        self.body.get_or_init(|| read().unwrap_or_default())
    }

    pub(crate) fn into_body(self) -> Value {
        self.body();
        self.body.into_inner().unwrap_or_default()
    }

    /// Changes the body: the text is no longer right then.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Value)) {
        let managed = self.managed.clone();
        let mut body = std::mem::take(self).into_body();
        change(&mut body);
        *self = Self { text: None, head: None, body: body.into(), managed };
    }

    pub(crate) fn managed(&self) -> &[Stored] {
        &self.managed
    }

    /// Returns the object as the server stores it.
    pub(crate) fn whole(&self) -> Value {
        let mut whole = self.body().clone();
        if !self.managed.is_empty() {
            let entries = self.managed.iter().map(Stored::to_value);
            whole[METADATA][MANAGED] = entries.collect();
        }
        whole
    }

    /// Returns about how long the object is as JSON.
    pub(crate) fn size(&self) -> usize {
        let mut body = Counted(0);
        match &self.text {
            Some(text) => body.0 = text.len(),
            // Counting never fails.
            None => drop(serde_json::to_writer(&mut body, self.body())),
        }
        body.0 + self.managed.iter().map(Stored::len).sum::<usize>()
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let same_body = match (&self.text, &other.text) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
            _ => self.body() == other.body(),
        };
        same_body && self.managed == other.managed
    }
}

/// Takes the managed fields out of a body, if it holds any.
fn take_managed(body: &mut Value) -> Option<Arc<[Stored]>> {
    let entries = body.get_mut(METADATA)?.as_object_mut()?.remove(MANAGED)?;
    let Value::Array(entries) = entries else { return Some(Arc::default()) };
    let read = |entry| serde_json::from_value(entry).unwrap_or_default();
    Some(entries.into_iter().map(read).collect())
}

impl From<Value> for Content {
    fn from(mut body: Value) -> Self {
        let managed = take_managed(&mut body).unwrap_or_default();
        Self { text: None, head: None, body: body.into(), managed }
    }
}

struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut managed = Vec::new();
        let body = deserializer.deserialize_map(Level { managed: &mut managed, is_metadata: false })?;
        Ok(Self { text: None, head: None, body: body.into(), managed: managed.into() })
    }
}

/// Reads an object, or its metadata, and sets the managed fields aside.
struct Level<'m> {
    managed: &'m mut Vec<Stored>,
    is_metadata: bool,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_metadata { "metadata" } else { "an object" })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = match (self.is_metadata, key.as_str()) {
                (false, METADATA) => {
                    map.next_value_seed(Level { managed: &mut *self.managed, is_metadata: true })?
                }
                (true, MANAGED) => {
                    *self.managed = map.next_value::<Option<Vec<Stored>>>()?.unwrap_or_default();
                    continue;
                }
                _ => map.next_value()?,
            };
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn managed_fields_are_set_aside_and_put_back() {
        let bare = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"managedFields": "x"},
            "metadata": {"name": "a", "labels": {"managedFields": "y"}}});
        let mut whole = bare.clone();
        whole[METADATA][MANAGED] = json!([{"manager": "m", "fieldsV1": {"f:data": {}}}]);
        for content in [serde_json::from_str(&whole.to_string()).unwrap(), Content::from(whole.clone())] {
            for content in [content.folded(), content] {
                assert_eq!((content.body(), content.managed.len()), (&bare, 1));
                assert_eq!(content.whole(), whole);
            }
        }
        let plain = Content::from(bare.clone());
        assert_eq!((plain.whole(), plain.size()), (bare.clone(), bare.to_string().len()));
    }

    #[test]
    fn a_size_is_not_much_off() {
        let entries = json!([{"manager": "m", "operation": "Apply", "apiVersion": "v1", "time": "2026-06-15T12:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:a": {}}}}]);
        let whole = json!({"metadata": {"name": "a", "managedFields": entries}});
        let size = Content::from(whole.clone()).size();
        assert!(size.abs_diff(whole.to_string().len()) < 30, "{size} {}", whole.to_string().len());
    }

    #[test]
    fn folding_changes_nothing() {
        let body = json!({"metadata": {"name": "a"}, "data": {"b": 1.0, "a": "ä", "c": null}});
        let content = Content::from(body.clone());
        let mut folded = content.folded();
        assert!(folded == content && folded == content.folded());
        assert_eq!((folded.size(), folded.clone().into_body()), (content.size(), body));
        folded.change(|body| body["data"]["b"] = json!(1));
        assert!(folded != content && folded.folded() != content.folded());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[]", "null", r#"{"metadata":null}"#, r#"{"metadata":{"managedFields":[1]}}"#] {
            assert!(serde_json::from_str::<Content>(text).is_err(), "{text}");
        }
        let read = |text| serde_json::from_str::<Content>(text).unwrap().managed.len();
        assert_eq!(read(r#"{"metadata":{"managedFields":null}}"#), 0);
    }

    #[test]
    fn items_of_lists_get_their_type() {
        let check = |item: Value, want: Value| {
            let mut content = Content::from(item);
            content.typed("apps/v1", "Deployment");
            assert_eq!(content.body(), &want);
        };
        let typed = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
        check(json!({}), typed.clone());
        check(json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}), typed);
        let other = json!({"apiVersion": "apps/v1beta1", "kind": "Deployment"});
        check(other.clone(), other);
    }
}
