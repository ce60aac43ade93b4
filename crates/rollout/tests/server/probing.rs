//! Probes of real Services behind the testbed's load balancers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_model::{SourceTree, TreeFile};
use windlass_rollout::{
    Grace, Options, ProbeFailure, ProbeResult, SmokeError, SmokeOptions, Target, is_waited_for, smoke, wait,
};
use windlass_settings::Probe;

use crate::bed::{Bed, Kept, authority, symptoms, with_bed};

/// Makes a workload with one Service, whose load balancer behaves as annotated.
async fn serve(bed: &Bed, name: &str, annotations: Value) {
    let mut live =
        vec![bed.apply(bed.workload("Deployment", "web", &json!({}), json!({"replicas": 1}))).await];
    let annotations = symptoms(&annotations);
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": bed.namespace, "annotations": annotations},
        "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 8443}]}});
    live.push(bed.apply(service).await);
    live.retain(|object| is_waited_for(object) && object.reference().name != "never");
    let targets = live.iter().map(|object| Target::of(object, true)).collect();
    let sink = Kept::default();
    let deadline = Duration::from_mins(1);
    let options = Options {
        deadline,
        sink: &sink,
        stop: CancellationToken::new(),
        grace: Grace::default(),
        rescue: false,
    };
    wait(&bed.cluster, targets, options).await.unwrap();
}

fn tree() -> SourceTree {
    let mut tree = SourceTree::new();
    tree.insert("ca.pem", TreeFile { bytes: authority().into(), executable: false }).unwrap();
    tree
}

async fn run(bed: &Bed, probe: Value) -> Result<(), ProbeFailure> {
    let probe: Probe = serde_json::from_value(probe).unwrap();
    let sink = Kept::default();
    let options =
        SmokeOptions { deadline: Duration::from_mins(1), sink: &sink, stop: CancellationToken::new() };
    match smoke(&bed.cluster, &[probe], "dev", &tree(), options).await {
        Ok(passed) => {
            assert_eq!(passed.probes(), ["it"]);
            Ok(())
        }
        Err(SmokeError::Failed { mut failures }) if failures.len() == 1 => Err(failures.remove(0)),
        Err(error) => panic!("{error:?}"),
    }
}

/// Makes a probe of a Service of the namespace. Load balancers begin to answer a moment after they have an
/// address, so that what must pass gets several attempts.
#[expect(clippy::needless_pass_by_value, reason = "callers read better without references")]
fn probe(bed: &Bed, service: &str, what: Value) -> Value {
    let mut probe = json!({"name": "it", "service": format!("{}/{service}", bed.namespace), "port": 8443,
        "attempts": 20, "interval": "250ms", "timeout": "5s"});
    probe.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
    probe
}

/// Runs a probe that must fail, with few attempts.
async fn fails(bed: &Bed, service: &str, mut what: Value, want: ProbeResult, part: &str) {
    what["attempts"] = json!(2);
    let failure = run(bed, probe(bed, service, what)).await.unwrap_err();
    assert_eq!((failure.result, failure.attempts), (want, 2), "{}", failure.reason);
    assert!(failure.reason.contains(part), "{:?} does not contain {part:?}", failure.reason);
}

#[tokio::test(flavor = "multi_thread")]
async fn http() {
    with_bed("http", async |bed| {
        serve(&bed, "web", json!({"http-body": "status: fine\n"})).await;
        run(&bed, probe(&bed, "web", json!({"http": {"path": "/healthz"}}))).await.unwrap();
        run(&bed, probe(&bed, "web", json!({"http": {"body": "fine"}}))).await.unwrap();
        run(&bed, probe(&bed, "web", json!({"http": {"bodyMatches": "^status: (fine|ok)"}}))).await.unwrap();
        let wrong = ProbeResult::WrongAnswer;
        fails(&bed, "web", json!({"http": {"status": 204}}), wrong, "the status is 200, not 204").await;
        fails(&bed, "web", json!({"http": {"body": "ok"}}), wrong, "does not contain \"ok\"").await;
        fails(&bed, "web", json!({"http": {"bodyMatches": "^fine"}}), wrong, "does not match \"^fine\"")
            .await;
        serve(&bed, "web", json!({"http-status": "503"})).await;
        fails(&bed, "web", json!({"http": {}}), wrong, "the status is 503, not 200").await;
        serve(&bed, "web", json!({"http-delay": "20s"})).await;
        let slow = json!({"http": {}, "timeout": "300ms"});
        fails(&bed, "web", slow, ProbeResult::NoAnswer, "no answer within 300ms").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer() {
    with_bed("silent", async |bed| {
        serve(&bed, "web", json!({})).await;
        let none = ProbeResult::NoAnswer;
        fails(&bed, "web", json!({"http": {}, "port": 9}), none, "refused").await;
        fails(&bed, "web", json!({"tcp": {}, "port": 9}), none, "refused").await;
        serve(&bed, "never", json!({"lb-after": "never"})).await;
        fails(&bed, "never", json!({"http": {}}), none, "has no load-balancer address").await;
        fails(&bed, "absent", json!({"http": {}}), ProbeResult::Unusable, "does not exist").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tcp() {
    with_bed("tcp", async |bed| {
        serve(&bed, "web", json!({"protocol": "tcp", "http-body": "220 mail ready\n"})).await;
        run(&bed, probe(&bed, "web", json!({"tcp": {}}))).await.unwrap();
        run(&bed, probe(&bed, "web", json!({"tcp": {"greeting": "220 "}}))).await.unwrap();
        let other = json!({"tcp": {"greeting": "AMQP"}});
        fails(&bed, "web", other, ProbeResult::WrongAnswer, "greets with \"220 \", not with \"AMQP\"").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tls() {
    with_bed("tls", async |bed| {
        serve(&bed, "web", json!({"tls": "true", "tls-name": "shop.example"})).await;
        let https =
            |name: &str, authority: Option<&str>| json!({"http": {"tlsName": name, "tlsCa": authority}});
        run(&bed, probe(&bed, "web", https("shop.example", Some("ca.pem")))).await.unwrap();
        let none = ProbeResult::NoAnswer;
        fails(&bed, "web", https("other.example", Some("ca.pem")), none, "not valid for").await;
        fails(&bed, "web", https("shop.example", None), none, "invalid peer certificate: UnknownIssuer")
            .await;
        let missing = https("shop.example", Some("missing.pem"));
        fails(&bed, "web", missing, ProbeResult::Unusable, "the file `missing.pem` does not exist").await;
    })
    .await;
}

/// A redirect to another host is an answer, not an address to ask.
#[tokio::test(flavor = "multi_thread")]
async fn redirects_stay_on_the_host() {
    with_bed("redirect", async |bed| {
        let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = elsewhere.local_addr().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            loop {
                let (mut stream, _) = server.accept().await.unwrap();
                let mut request = [0; 1024];
                let read = stream.read(&mut request).await.unwrap();
                let path = String::from_utf8_lossy(&request[..read]);
                let answer = if path.starts_with("GET /far ") {
                    format!("302 Found\r\nLocation: http://{target}/")
                } else if path.starts_with("GET /near ") {
                    "302 Found\r\nLocation: /home".to_owned()
                } else {
                    "200 OK".to_owned()
                };
                let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let probe = |http: Value| json!({"name": "it", "url": format!("http://{address}"), "http": http, "attempts": 1});
        run(&bed, probe(json!({"path": "/near"}))).await.unwrap();
        run(&bed, probe(json!({"path": "/near", "status": 302}))).await.unwrap();
        let failure = run(&bed, probe(json!({"path": "/far"}))).await.unwrap_err();
        assert_eq!(failure.reason, "the status is 302, not 200");
        let nobody = tokio::time::timeout(Duration::from_millis(100), elsewhere.accept()).await;
        assert!(nobody.is_err(), "the redirect was followed");
        serving.abort();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_without_probes_says_so() {
    with_bed("none", async |bed| {
        let probe = json!({"name": "it", "url": "http://127.0.0.1:9", "http": {}, "environments": ["prd"]});
        let probe: Probe = serde_json::from_value(probe).unwrap();
        let sink = Kept::default();
        let options =
            SmokeOptions { deadline: Duration::from_secs(9), sink: &sink, stop: CancellationToken::new() };
        let passed = smoke(&bed.cluster, &[probe], "dev", &tree(), options).await.unwrap();
        assert!(passed.probes().is_empty());
        assert!(format!("{:?}", sink.events()).contains("no probes for dev"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_and_a_stop_end_the_attempts() {
    with_bed("late", async |bed| {
        let probe = || -> Probe {
            let probe = json!({"name": "it", "url": "http://127.0.0.1:9", "http": {}, "attempts": 1000, "interval": "100ms"});
            serde_json::from_value(probe).unwrap()
        };
        let (sink, stop) = (Kept::default(), CancellationToken::new());
        let options = |seconds| SmokeOptions { deadline: Duration::from_secs(seconds), sink: &sink, stop: stop.clone() };
        let late = smoke(&bed.cluster, &[probe()], "dev", &tree(), options(1)).await.unwrap_err();
        let SmokeError::Failed { failures } = late else { panic!("{late:?}") };
        assert!((2..1000).contains(&failures[0].attempts));
        stop.cancel();
        let stopped = smoke(&bed.cluster, &[probe()], "dev", &tree(), options(60)).await.unwrap_err();
        assert_eq!(stopped, SmokeError::Interrupted);
    })
    .await;
}
