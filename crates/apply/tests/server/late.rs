//! What no preview finds: the dry-run is accepted, and the real request is not (facts 10.2).

use serde_json::{Value, json};
use windlass_apply::ApplyError;
use windlass_cluster::{ApplyRequest, Expect};
use windlass_model::{ExitCode, Object};

use crate::bed::{Bed, object};
use crate::plan::rendering;

fn service(bed: &Bed, name: &str, spec: &Value) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec}),
    )
}

/// Delivers an object that a dry-run accepts, and expects that the failure of the real request is told with its way out.
async fn fails(bed: &Bed, object: &Object, says: &str, hint: &str) {
    let preview = ApplyRequest { object, expect: Expect::Absent, force: false, dry_run: true };
    bed.cluster.apply(preview).await.unwrap();
    let good = bed.map("good", "1");
    let error = bed.apply(&rendering(&[("shop", &[good.clone(), object.clone()])])).await.unwrap_err();
    let ApplyError::Partial { failures, .. } = &error else { panic!("{error}") };
    assert_eq!((failures.len(), &failures[0].object), (1, object.reference()));
    assert!(failures[0].message.contains(says), "{} lacks {says}", failures[0].message);
    assert!(failures[0].hint.contains(hint), "{} lacks {hint}", failures[0].hint);
    assert_eq!(error.exit_code(), ExitCode::ApplyFailed);
    assert!(bed.get(good.reference()).await.is_some(), "what does not need it is delivered");
    assert!(bed.get(object.reference()).await.is_none());
}

#[tokio::test]
async fn a_port_out_of_range_and_an_address_that_is_taken() {
    let bed = Bed::up().await;
    let ports = |port: u16| json!([{"port": 80, "nodePort": port}]);
    let out_of_range = service(&bed, "range", &json!({"type": "NodePort", "ports": ports(80)}));
    fails(&bed, &out_of_range, "provided port is not in the valid range", "correct the manifest").await;
    let first = bed.put(&service(&bed, "first", &json!({"ports": [{"port": 80}]}))).await;
    let address = first.body()["spec"]["clusterIP"].clone();
    let taken = service(&bed, "taken", &json!({"clusterIP": address, "ports": [{"port": 80}]}));
    fails(&bed, &taken, "provided IP is already allocated", "correct the manifest").await;
    bed.down().await;
}

#[tokio::test]
async fn an_object_that_is_larger_than_the_store_takes() {
    let bed = Bed::up().await;
    let env: Vec<Value> =
        (0..17).map(|number| json!({"name": format!("E{number}"), "value": "x".repeat(100_000)})).collect();
    let large = object(json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "large", "namespace": bed.namespace},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "a", "image": "registry.example/a:1", "env": env}]}}}}));
    fails(&bed, &large, "too large", "split the object").await;
    bed.down().await;
}
