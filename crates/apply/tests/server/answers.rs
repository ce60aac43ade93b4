//! Answers that are lost on the way: the write landed, and nobody knows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::bed::{Bed, connect, kubeconfig};
use crate::plan::rendering;

/// A way to the API server that can lose answers.
struct Line {
    address: String,
    to_lose: Arc<AtomicUsize>,
}

impl Line {
    async fn to(server: &str) -> Self {
        let server = server.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let to_lose = Arc::new(AtomicUsize::new(0));
        let counter = to_lose.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let upstream = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(carry(client, upstream, counter.clone()));
            }
        });
        Self { address, to_lose }
    }
}

/// Carries bytes both ways. An answer that is to be lost is read, so the server has sent it, and then the
/// connection breaks.
async fn carry(client: TcpStream, server: TcpStream, to_lose: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = async {
        tokio::io::copy(&mut from_client, &mut to_server).await.ok();
    };
    let down = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count) = from_server.read(&mut buffer).await {
            let lose = |left: usize| left.checked_sub(1);
            if count == 0 || to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose).is_ok() {
                return;
            }
            to_client.write_all(&buffer[..count]).await.ok();
        }
    };
    tokio::select! { () = up => {}, () = down => {} }
}

async fn bed() -> (Bed, Line) {
    let text = std::fs::read_to_string(kubeconfig()).unwrap();
    let server =
        text.split("https://").nth(1).and_then(|rest| rest.split(['\n', '"', '/']).next()).unwrap().trim();
    let line = Line::to(server).await;
    let path = std::env::temp_dir().join(format!("windlass-apply-{:08x}", rand::random::<u32>()));
    std::fs::write(&path, text.replace(server, &line.address)).unwrap();
    let cluster = connect(path.clone()).await;
    std::fs::remove_file(Path::new(&path)).unwrap();
    (Bed::over(cluster).await, line)
}

impl Bed {
    fn lose_answer_to(&self, line: &Line, name: &'static str) {
        let (to_lose, first) = (line.to_lose.clone(), AtomicUsize::new(1));
        self.sink.before(name, move || {
            to_lose.store(first.swap(0, Ordering::SeqCst), Ordering::SeqCst);
        });
    }
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_made_sure_of() {
    let (bed, line) = bed().await;
    bed.lose_answer_to(&line, "a");
    let applied = bed.apply(&rendering(&[("shop", &[bed.map("a", "1")])])).await.unwrap();
    assert_eq!(applied.changed(), 1);
    // Sent, found to be there, and confirmed by its uid.
    assert_eq!(bed.sink.writes()[1..], ["create a", "update a"]);

    bed.lose_answer_to(&line, "a");
    bed.apply(&rendering(&[("shop", &[bed.map("a", "2")])])).await.unwrap();
    assert_eq!(bed.sink.writes(), ["update a", "update a"]);
    assert_eq!(bed.get(bed.map("a", "").reference()).await.unwrap().body()["data"]["k"], "2");

    bed.lose_answer_to(&line, "a");
    let pruned = bed.run(&rendering(&[("shop", &[bed.map("b", "1")])])).await.unwrap();
    assert!(bed.get(bed.map("a", "").reference()).await.is_none());
    assert_eq!((pruned.deleted.len(), pruned.absent.len()), (1, 0), "it was this run that deleted it");
    bed.down().await;
}

#[tokio::test]
async fn a_parent_whose_answer_was_lost_is_made_sure_of() {
    let (bed, line) = bed().await;
    let name: &'static str = Box::leak(bed.set("shop").parent().name.into_boxed_str());
    let all = rendering(&[("shop", &[bed.map("a", "1")])]);
    bed.lose_answer_to(&line, name);
    bed.run(&all).await.unwrap();
    assert_eq!(bed.sink.writes(), [format!("create {name}"), "create a".into()]);
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./a"]);
    bed.down().await;
}
