//! Lists that are longer than a page.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use serde_json::json;
use windlass_cluster::{Expect, Selector};
use windlass_model::{GroupKind, Object};

use crate::bed::{apply, cluster, namespace, object, remove};

/// One more than a page holds.
const MANY: usize = 501;

/// The items of a typed list carry no kind, and those of a list of metadata a kind that is not theirs.
#[tokio::test]
async fn a_list_is_read_to_its_last_page_in_every_form() {
    let cluster = cluster().await;
    let inside = namespace(&cluster, "pages").await;
    let name = inside.reference().name.as_str();
    let maps = (0..MANY).map(|number| {
        object(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
            "metadata": {"name": format!("m{number}"), "namespace": name, "labels": {"windlass.dev/test": "pages"}}}))
    });
    let made =
        futures::stream::iter(maps.map(async |map| apply(&cluster, &map, Expect::Absent, false).await));
    let made: Vec<_> = made.buffer_unordered(8).collect().await;
    assert!(made.iter().all(Result::is_ok));

    let resource = cluster.preferred(&GroupKind::new("", "ConfigMap")).await.unwrap();
    let labels = Some("windlass.dev/test=pages");
    let selector = Selector { namespace: Some(name), labels, fields: None };
    let names = |objects: &[Object]| -> BTreeSet<String> {
        assert!(objects.iter().all(|object| object.reference().kind.is("", "ConfigMap")));
        objects.iter().map(|object| object.reference().name.clone()).collect()
    };
    let listing = cluster.list(&resource, selector).await.unwrap();
    assert_eq!((listing.objects.len(), names(&listing.objects).len()), (MANY, MANY));
    assert!(listing.objects.iter().all(|object| object.body()["data"]["k"] == "v"));
    let metadata = cluster.list_metadata(&resource, selector).await.unwrap();
    assert_eq!(names(&metadata.objects), names(&listing.objects));
    assert!(metadata.objects.iter().all(|object| object.body().get("data").is_none()));
    let last = cluster.list_only(&resource, selector, |reference| reference.name == "m500").await.unwrap();
    assert_eq!(names(&last.objects), BTreeSet::from(["m500".to_owned()]));
    remove(&cluster, &inside).await;
}

#[tokio::test]
async fn a_list_of_a_namespace_that_does_not_exist_is_empty() {
    let cluster = cluster().await;
    let resource = cluster.preferred(&GroupKind::new("", "ConfigMap")).await.unwrap();
    let selector = Selector { namespace: Some("no-such-namespace"), ..Selector::default() };
    assert!(cluster.list(&resource, selector).await.unwrap().objects.is_empty());
}
