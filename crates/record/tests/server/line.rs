//! A way to the API server that can be cut.

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use windlass_cluster::Cluster;

use crate::bed::{connect, kubeconfig};

/// Connections to the API server through this process.
pub(crate) struct Line(tokio::task::JoinHandle<()>);

impl Line {
    pub(crate) async fn open() -> (Self, Cluster) {
        let text = std::fs::read_to_string(kubeconfig()).unwrap();
        let rest = text.split("https://").nth(1).unwrap();
        let server = rest.split(['\n', '"', '/']).next().unwrap().trim().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::fs::write(file.path(), text.replace(&server, &address)).unwrap();
        let line = Self(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let mut upstream = TcpStream::connect(&server).await.unwrap();
                connections.spawn(async move {
                    tokio::io::copy_bidirectional(&mut client, &mut upstream).await.ok();
                });
            }
        }));
        (line, connect(file.path()).await)
    }

    /// Breaks all connections; no new one can be made.
    pub(crate) fn cut(&self) {
        self.0.abort();
    }
}
