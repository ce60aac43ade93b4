//! What is known of the kinds that the server serves is asked about, not sent, again.

use serde_json::{Value, json};
use windlass_cluster::Expect;
use windlass_model::GroupKind;

use crate::bed::{apply, object, own, remove};

/// Returns the codes of the answers to requests of a path that a client made, oldest first.
fn answers(agent: &str, path: &str) -> Vec<u64> {
    let log = std::fs::read_to_string(windlass_bed::kubeconfig().with_file_name("audit.log")).unwrap();
    let events = log.lines().filter(|line| line.contains(agent));
    let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = events.filter(|event| event["userAgent"] == agent && event["requestURI"] == path);
    ours.filter_map(|event| event["responseStatus"]["code"].as_u64()).collect()
}

/// The core group changes only with the server itself; the other list follows each definition.
#[tokio::test]
async fn a_list_of_kinds_that_did_not_change_is_not_sent_again() {
    let agent = own("discovery");
    let cluster = windlass_bed::connect(&windlass_bed::kubeconfig(), &agent, windlass_bed::SOON).await;
    let group = format!("{agent}.example.com");
    let kind = GroupKind::new(&group, "Foo");
    assert_eq!(cluster.is_namespaced(&kind).await.unwrap(), None);
    let definition = object(
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}),
    );
    apply(&cluster, &definition, Expect::Absent, false).await.unwrap();
    for attempt in 0.. {
        cluster.forget_discovery().await;
        if cluster.is_namespaced(&kind).await.unwrap() == Some(true) {
            break;
        }
        assert!(attempt < 100, "{group} is never served");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
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
