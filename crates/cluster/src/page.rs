//! One page of a collection.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use windlass_model::{Content, Object, ObjectRef};

use crate::Resource;

/// Reads pages of a collection object by object: of what is wanted the folded object is kept, and nothing of the rest.
pub(crate) struct Pages<'a, W> {
    api_version: String,
    kind: &'a str,
    wanted: W,
    /// What was read so far.
    pub(crate) objects: Vec<Object>,
}

/// What a page says about the collection.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PageMetadata {
    /// By which the next page is asked for; empty on the last.
    #[serde(rename = "continue")]
    pub(crate) next: String,
    pub(crate) resource_version: String,
}

impl<'a, W: Fn(&ObjectRef) -> bool> Pages<'a, W> {
    pub(crate) fn of(resource: &'a Resource, wanted: W) -> Self {
        Self { api_version: resource.api_version(), kind: &resource.kind.kind, wanted, objects: Vec::new() }
    }

    /// Reads a page as the server sends it.
    pub(crate) fn read(&mut self, page: &[u8]) -> Result<PageMetadata, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_slice(page);
        Level::Page(self).deserialize(&mut reader)
    }

    fn take(&mut self, mut content: Content) -> Result<(), windlass_model::ObjectError> {
        content.typed(&self.api_version, self.kind);
        let object = Object::of(content, None)?;
        if (self.wanted)(object.reference()) {
            self.objects.push(object.folded());
        }
        Ok(())
    }
}

/// Where the reader is.
enum Level<'p, 'a, W> {
    Page(&'p mut Pages<'a, W>),
    Items(&'p mut Pages<'a, W>),
}

impl<'de, W: Fn(&ObjectRef) -> bool> DeserializeSeed<'de> for Level<'_, '_, W> {
    type Value = PageMetadata;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<PageMetadata, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, W: Fn(&ObjectRef) -> bool> Visitor<'de> for Level<'_, '_, W> {
    type Value = PageMetadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Page(_) => "a list",
            Self::Items(_) => "the items of a list",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PageMetadata, A::Error> {
        let Self::Page(pages) = self else { return Err(A::Error::custom("items of a list are no mapping")) };
        let (mut metadata, mut complete) = (PageMetadata::default(), false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "metadata" => metadata = map.next_value()?,
                "items" => {
                    map.next_value_seed(Level::Items(&mut *pages))?;
                    complete = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        // An answer without items is no empty list: what is concluded from absence would be wrong.
        if complete { Ok(metadata) } else { Err(A::Error::missing_field("items")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PageMetadata, A::Error> {
        let Self::Items(pages) = self else { return Err(A::Error::custom("a list is a mapping")) };
        while let Some(content) = items.next_element()? {
            pages.take(content).map_err(A::Error::custom)?;
        }
        Ok(PageMetadata::default())
    }

    /// The server writes an empty collection as null.
    fn visit_unit<E: serde::de::Error>(self) -> Result<PageMetadata, E> {
        match self {
            Self::Items(_) => Ok(PageMetadata::default()),
            Self::Page(_) => Err(E::custom("nothing is no list")),
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_model::GroupKind;

    use super::*;

    fn check(text: &str, next: &str, want: &[&str]) {
        let resource = Resource {
            kind: GroupKind::new("apps", "Deployment"),
            version: "v1".into(),
            plural: "deployments".into(),
            namespaced: true,
            verbs: Vec::new(),
        };
        let mut pages = Pages::of(&resource, |object: &ObjectRef| object.name != "c");
        let metadata = pages.read(text.as_bytes()).unwrap();
        assert_eq!((metadata.next.as_str(), metadata.resource_version.as_str()), (next, "7"));
        let names: Vec<String> = pages.objects.iter().map(|object| object.reference().to_string()).collect();
        assert_eq!(names, want);
    }

    #[test]
    fn what_is_no_list_is_no_empty_list() {
        let resource = Resource {
            kind: GroupKind::new("", "Pod"),
            version: "v1".into(),
            plural: "pods".into(),
            namespaced: true,
            verbs: Vec::new(),
        };
        for text in ["null", "{}", "[]", r#"{"kind":"PodList","metadata":{}}"#, r#"{"items":{}}"#] {
            let mut pages = Pages::of(&resource, |_: &ObjectRef| true);
            assert!(pages.read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn pages_are_read_object_by_object() {
        check(r#"{"kind":"DeploymentList","metadata":{"resourceVersion":"7"},"items":null}"#, "", &[]);
        check(
            r#"{"items":[{"metadata":{"name":"a","namespace":"b"}},{"metadata":{"name":"c"}}],
                "metadata":{"continue":"x","resourceVersion":"7"}}"#,
            "x",
            &["Deployment.apps b/a"],
        );
    }
}
