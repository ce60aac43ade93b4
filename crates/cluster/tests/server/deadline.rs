//! A server that does not answer, or not to the end.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_cluster::{Cluster, ClusterError, Propagation, Resource};
use windlass_model::{ExitCode, GroupKind, Object};

use crate::bed::{object, own};

/// Connects to something that answers everybody with this, and then with nothing more.
async fn silent(says: &'static str) -> Cluster {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut request = [0; 16];
            client.read_exact(&mut request).await.unwrap();
            client.write_all(says.as_bytes()).await.unwrap();
            held.push(client);
        }
    });
    let config = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": {"server": server}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "nobody"}}],
    });
    let file = std::env::temp_dir().join(own("silent"));
    std::fs::write(&file, config.to_string()).unwrap();
    let cluster = windlass_bed::connect(&file, "windlass-test", Duration::from_millis(200)).await;
    std::fs::remove_file(file).unwrap();
    cluster
}

#[tokio::test]
async fn every_request_has_an_end() {
    for says in ["", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"] {
        let error = silent(says).await.identity().await.unwrap_err();
        let ClusterError::Timeout { what, .. } = &error else { panic!("{error}") };
        assert_eq!(what, "GET /api/v1/namespaces/kube-system");
        assert_eq!(error.exit_code(), ExitCode::Unreachable);
        assert!(error.may_have_landed(), "a write that ended so may have been carried out");
        assert!(error.hint().contains("timeouts.request"), "{}", error.hint());
    }
}

/// Writes that waited for their turn behind slow ones were sent after the lock was lost.
#[tokio::test]
async fn a_write_that_waits_for_its_turn_is_not_sent_once_the_run_must_stop() {
    let stop = CancellationToken::new();
    let cluster = silent("").await.until(stop.clone());
    let pod = |number: usize| {
        let metadata =
            json!({"name": format!("p{number}"), "namespace": "a", "uid": "u", "resourceVersion": "1"});
        object(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}))
    };
    let pods: Vec<Object> = (0..8).map(pod).collect();
    let resource = Resource {
        kind: GroupKind::new("", "Pod"),
        version: "v1".to_owned(),
        plural: "pods".to_owned(),
        namespaced: true,
        verbs: vec!["delete".to_owned()],
    };
    let writes = pods.iter().map(|pod| cluster.delete(&resource, pod, Propagation::Background, false));
    let stops = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    };
    let (answers, ()) = futures::join!(futures::future::join_all(writes), stops);
    let sent = answers.iter().filter(|answer| matches!(answer, Err(ClusterError::Timeout { .. }))).count();
    let held = answers.iter().filter(|answer| matches!(answer, Err(ClusterError::Stopped { .. }))).count();
    assert_eq!((sent, held), (4, 4), "{answers:?}");
    // The renewal of a lock waits behind nobody, and what only reads is not stopped.
    let apart = cluster.apart();
    assert!(matches!(apart.identity().await, Err(ClusterError::Timeout { .. })));
}
