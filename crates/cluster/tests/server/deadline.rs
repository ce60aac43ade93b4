//! A server that does not answer, or not to the end.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::ExitCode;

use crate::bed::own;

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
