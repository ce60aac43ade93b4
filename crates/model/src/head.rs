//! What is asked of every object, kept at hand while the rest of it is text.

use serde_json::{Map, Value};

/// Longer annotations are looked up in the text: what kubectl keeps there is as large as the object.
const SHORT: usize = 128;

/// A few entries; a tree of them takes ten times as much.
type ByKey<T> = Box<[(Box<str>, T)]>;

/// The metadata that finding, matching and guarding an object takes.
pub(crate) struct Head {
    uid: Option<Box<str>>,
    resource_version: Option<Box<str>>,
    generation: Option<i64>,
    is_terminating: bool,
    labels: ByKey<Box<str>>,
    /// `None` stands for a long one.
    annotations: ByKey<Option<Box<str>>>,
}

impl Head {
    pub(crate) fn of(body: &Value) -> Self {
        let owned = |text: &str| Box::<str>::from(text);
        let short = |text: &str| (text.len() <= SHORT).then(|| owned(text));
        Self {
            uid: uid(body).map(owned),
            resource_version: resource_version(body).map(owned),
            generation: generation(body),
            is_terminating: is_terminating(body),
            labels: texts(body, "labels").map(|(key, text)| (owned(key), owned(text))).collect(),
            annotations: texts(body, "annotations").map(|(key, text)| (owned(key), short(text))).collect(),
        }
    }

    pub(crate) fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    pub(crate) fn resource_version(&self) -> Option<&str> {
        self.resource_version.as_deref()
    }

    pub(crate) fn generation(&self) -> Option<i64> {
        self.generation
    }

    pub(crate) fn is_terminating(&self) -> bool {
        self.is_terminating
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| **known == *key).map(|(_, text)| &**text)
    }

    /// Returns an annotation, or `Err` if it is there and too long to be kept here.
    pub(crate) fn annotation(&self, key: &str) -> Result<Option<&str>, Long> {
        match self.annotations.iter().find(|(known, _)| **known == *key) {
            Some((_, Some(text))) => Ok(Some(text)),
            Some((_, None)) => Err(Long),
            None => Ok(None),
        }
    }
}

/// Says that the rest of the object has to be looked at.
pub(crate) struct Long;

pub(crate) fn uid(body: &Value) -> Option<&str> {
    body.pointer("/metadata/uid")?.as_str()
}

pub(crate) fn resource_version(body: &Value) -> Option<&str> {
    body.pointer("/metadata/resourceVersion")?.as_str()
}

pub(crate) fn generation(body: &Value) -> Option<i64> {
    body.pointer("/metadata/generation")?.as_i64()
}

pub(crate) fn is_terminating(body: &Value) -> bool {
    body.pointer("/metadata/deletionTimestamp").is_some_and(|stamp| !stamp.is_null())
}

/// Returns a label or an annotation.
pub(crate) fn text<'a>(body: &'a Value, field: &str, key: &str) -> Option<&'a str> {
    body.get("metadata")?.get(field)?.get(key)?.as_str()
}

fn texts<'a>(body: &'a Value, field: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = body.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_object);
    let entries = map.into_iter().flat_map(Map::iter);
    entries.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Object;

    #[test]
    fn a_folded_object_says_the_same() {
        let long = "x".repeat(500);
        let metadata = json!({"name": "a", "uid": "u", "resourceVersion": "7", "generation": 3,
            "labels": {"app": "a", "number": 1, "empty": ""}, "annotations": {"short": "s", "long": long, "number": 1}});
        let mut going = metadata.clone();
        going["deletionTimestamp"] = json!("2026-06-15T12:00:00Z");
        for metadata in
            [metadata, going, json!({"name": "a"}), json!({"name": "a", "labels": null, "uid": 1})]
        {
            let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            let object = Object::new(body, None).unwrap();
            let folded = object.folded();
            let known = |object: &Object| {
                let numbers = (object.generation(), object.is_terminating());
                let words = [object.uid(), object.resource_version()].map(|word| word.map(str::to_owned));
                let keys = ["app", "number", "empty", "short", "long", "none"];
                let texts = keys.map(|key| {
                    [object.label(key), object.annotation(key)].map(|text| text.map(str::to_owned))
                });
                (numbers, words, texts)
            };
            assert_eq!(known(&folded), known(&object), "{metadata}");
            assert_eq!(known(&folded.folded()), known(&object), "{metadata}");
        }
    }

    #[test]
    fn a_changed_object_says_what_it_is_now() {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"app": "a"}}});
        let mut object = Object::new(body.clone(), None).unwrap().folded();
        object.set_label("app", "b");
        assert_eq!(object.label("app"), Some("b"));
        assert_eq!(object.folded().with_body(body).label("app"), Some("a"));
    }
}
