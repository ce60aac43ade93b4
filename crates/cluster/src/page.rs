//! One page of a collection.

use serde::Deserialize;
use windlass_model::Content;

use crate::Resource;

/// A page as the server sends it, read without a tree of the whole.
#[derive(Deserialize)]
pub(crate) struct Page {
    pub(crate) metadata: PageMetadata,
    /// The server writes an empty collection as null.
    items: Option<Vec<Content>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageMetadata {
    /// By which the next page is asked for; empty on the last.
    #[serde(rename = "continue", default)]
    pub(crate) next: String,
    #[serde(default)]
    pub(crate) resource_version: String,
}

impl Page {
    /// Returns the objects, each with its type.
    pub(crate) fn items(self, resource: &Resource) -> impl Iterator<Item = Content> {
        let api_version = resource.api_version();
        self.items.into_iter().flatten().map(move |mut item| {
            item.typed(&api_version, &resource.kind.kind);
            item
        })
    }
}

#[cfg(test)]
mod tests {
    use windlass_model::{GroupKind, Object};

    use super::*;

    #[test]
    fn pages() {
        let resource = Resource {
            kind: GroupKind::new("apps", "Deployment"),
            version: "v1".into(),
            plural: "deployments".into(),
            namespaced: true,
            verbs: Vec::new(),
        };
        let check = |text: &str, next: &str, want: &[&str]| {
            let page: Page = serde_json::from_str(text).unwrap();
            assert_eq!(page.metadata.next, next);
            let named = |item| Object::of(item, None).unwrap().reference().to_string();
            assert_eq!(page.items(&resource).map(named).collect::<Vec<_>>(), want);
        };
        check(r#"{"metadata":{"resourceVersion":"7"},"items":null}"#, "", &[]);
        check(
            r#"{"metadata":{"resourceVersion":"7","continue":"x"},"items":[{"metadata":{"name":"a","namespace":"b"}}]}"#,
            "x",
            &["Deployment.apps b/a"],
        );
    }
}
