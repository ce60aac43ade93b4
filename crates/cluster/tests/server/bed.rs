//! A connection to the shared API server, and objects of a test's own there.

use serde_json::{Value, json};
use windlass_cluster::{ApplyRequest, Cluster, ClusterError, Expect, Failure, FailureKind, Propagation};
use windlass_model::Object;

pub(crate) async fn cluster() -> Cluster {
    windlass_bed::connect(&windlass_bed::kubeconfig(), "windlass-test", windlass_bed::SOON).await
}

/// Returns a name that no other test uses.
pub(crate) fn own(name: &str) -> String {
    let thread: String =
        format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    format!("cluster-{name}-{}-{thread}", std::process::id())
}

pub(crate) fn object(body: Value) -> Object {
    Object::new(body, None).unwrap()
}

/// A ConfigMap of its own in the namespace `default`.
pub(crate) fn config_map(name: &str, value: &str) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": own(name), "namespace": "default"}, "data": {"k": value},
    }))
}

pub(crate) async fn apply(
    cluster: &Cluster,
    object: &Object,
    expect: Expect<'_>,
    dry_run: bool,
) -> Result<Object, ClusterError> {
    let request = ApplyRequest { object, expect, force: false, dry_run };
    cluster.apply(request).await.map(|answer| answer.object)
}

/// Deletes an object, again if its controller writes its status meanwhile.
pub(crate) async fn remove(cluster: &Cluster, object: &Object) {
    while let Some(live) = cluster.get(object.reference()).await.unwrap() {
        let resource = cluster.resource_of(live.reference()).await.unwrap();
        let answer = cluster.delete(&resource, &live, Propagation::Background, false).await;
        let kind = answer.as_ref().err().and_then(ClusterError::failure).map(Failure::kind);
        if kind != Some(FailureKind::Modified) {
            answer.unwrap();
            return;
        }
    }
}

pub(crate) fn kind(result: Result<Object, ClusterError>) -> Option<FailureKind> {
    result.err().and_then(|error| error.failure().map(Failure::kind))
}

/// Makes a namespace and returns it.
pub(crate) async fn namespace(cluster: &Cluster, name: &str) -> Object {
    let namespace = object(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": own(name)}}));
    apply(cluster, &namespace, Expect::Absent, false).await.unwrap()
}

/// Returns the object with one field changed.
pub(crate) fn with(object: &Object, pointer: &str, value: Value) -> Object {
    let mut body = object.body().clone();
    *body.pointer_mut(pointer).unwrap() = value;
    object.with_body(body)
}
