//! What is known of the kinds that the server serves is asked about, not sent, again.

use serde_json::{Value, json};
use windlass_cluster::{Cluster, ClusterError, Expect, Selector};
use windlass_model::{GroupKind, Object};

use crate::bed::{apply, object, own, remove};

/// Returns the codes of the answers to requests of a path that a client made, oldest first.
fn answers(agent: &str, path: &str) -> Vec<u64> {
    let log = std::fs::read_to_string(windlass_bed::kubeconfig().with_file_name("audit.log")).unwrap();
    let events = log.lines().filter(|line| line.contains(agent));
    let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = events.filter(|event| event["userAgent"] == agent && event["requestURI"] == path);
    ours.filter_map(|event| event["responseStatus"]["code"].as_u64()).collect()
}

fn definition(group: &str) -> Object {
    object(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}))
}

async fn served(cluster: &Cluster, kind: &GroupKind) {
    for attempt in 0.. {
        cluster.forget_discovery().await;
        if cluster.is_namespaced(kind).await.unwrap() == Some(true) {
            break;
        }
        assert!(attempt < 100, "{kind} is never served");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// The core group changes only with the server itself; the other list follows each definition.
#[tokio::test]
async fn a_list_of_kinds_that_did_not_change_is_not_sent_again() {
    let agent = own("discovery");
    let cluster = windlass_bed::connect(&windlass_bed::kubeconfig(), &agent, windlass_bed::SOON).await;
    let group = format!("{agent}.example.com");
    let kind = GroupKind::new(&group, "Foo");
    assert_eq!(cluster.is_namespaced(&kind).await.unwrap(), None);
    let definition = definition(&group);
    apply(&cluster, &definition, Expect::Absent, false).await.unwrap();
    served(&cluster, &kind).await;
    let config_map = GroupKind::new("", "ConfigMap");
    assert_eq!(
        cluster.is_namespaced(&config_map).await.unwrap(),
        Some(true),
        "what was known is known still"
    );
    remove(&cluster, &definition).await;

    let core = answers(&agent, "/api");
    assert_eq!(core.first(), Some(&200));
    assert!(core.len() > 1 && core[1..].iter().all(|code| *code == 304), "{core:?}");
    let groups = answers(&agent, "/apis");
    assert!(groups[1..].contains(&200), "the list with the new kind: {groups:?}");
}

/// A run that was killed while a definition went was refused the next time: its kind "could not be listed".
#[tokio::test]
async fn a_kind_whose_definition_went_has_no_objects() {
    let agent = own("went");
    let cluster = windlass_bed::connect(&windlass_bed::kubeconfig(), &agent, windlass_bed::SOON).await;
    let group = format!("{agent}.example.com");
    let kind = GroupKind::new(&group, "Foo");
    let definition = definition(&group);
    apply(&cluster, &definition, Expect::Absent, false).await.unwrap();
    served(&cluster, &kind).await;
    let (_, listing) = cluster.list_kind(&kind, Selector::default()).await.unwrap();
    assert!(listing.objects.is_empty());
    // Another client deletes it; this one still knows its path.
    let other = windlass_bed::connect(&windlass_bed::kubeconfig(), &agent, windlass_bed::SOON).await;
    remove(&other, &definition).await;
    for attempt in 0.. {
        if other.get(definition.reference()).await.unwrap().is_none() {
            break;
        }
        assert!(attempt < 100, "{group} stays");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let error = cluster.list_kind(&kind, Selector::default()).await.unwrap_err();
    assert!(matches!(error, ClusterError::UnknownKind { stale: false, .. }), "{error:?}");
}
