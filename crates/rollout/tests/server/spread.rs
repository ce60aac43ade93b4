//! Workloads in many namespaces: what looking at them costs, and who may look.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_model::Object;
use windlass_rollout::{Grace, Options, Target, wait};

use crate::bed::{Bed, Kept, requests, with_bed};

const NAMESPACES: usize = 4;

/// Makes a Deployment in each of some new namespaces, and lets a user read in each of these.
async fn deployments(bed: &Bed, user: &str) -> Vec<Object> {
    let mut live = Vec::new();
    for number in 0..NAMESPACES {
        let namespace = bed.own(&number.to_string());
        bed.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
        bed.apply(binding("RoleBinding", user, Some(&namespace))).await;
        let mut body = bed.workload("Deployment", "web", &json!({}), json!({"replicas": 1}));
        body["metadata"]["namespace"] = json!(namespace);
        live.push(bed.apply(body).await);
    }
    live
}

fn binding(kind: &str, user: &str, namespace: Option<&str>) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": user, "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})
}

/// Waits as a user; returns the verbs of the requests that this took, with their answers.
async fn asked(bed: &Bed, user: &str, live: &[Object]) -> Vec<(String, i64)> {
    let cluster = bed.connect_as(user).await;
    let before = requests(user).len();
    let sink = Kept::default();
    let options = Options {
        deadline: Duration::from_mins(1),
        sink: &sink,
        stop: CancellationToken::new(),
        grace: Grace::default(),
        rescue: false,
    };
    let targets = live.iter().map(|object| Target::of(object, false)).collect();
    let rolled_out = wait(&cluster, targets, options).await.unwrap();
    assert_eq!(rolled_out.ready().len(), live.len());
    requests(user).split_off(before)
}

fn count(requests: &[(String, i64)], verb: &str, code: i64) -> usize {
    requests.iter().filter(|request| (request.0.as_str(), request.1) == (verb, code)).count()
}

/// One list, of the Deployments, however many namespaces there are.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_ready_already_is_read_once_over_all_namespaces_and_not_watched() {
    with_bed("wide", async |bed| {
        let user = bed.own("reader");
        let live = deployments(&bed, &user).await;
        bed.apply(binding("ClusterRoleBinding", &user, None)).await;
        asked(&bed, &user, &live).await;
        let again = asked(&bed, &user, &live).await;
        assert_eq!((count(&again, "list", 200), count(&again, "watch", 200)), (1, 0), "{again:?}");
    })
    .await;
}

/// A right that holds in some namespaces only is no right to read all.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_read_all_namespaces_reads_each() {
    with_bed("narrow", async |bed| {
        let user = bed.own("reader");
        let live = deployments(&bed, &user).await;
        asked(&bed, &user, &live).await;
        let again = asked(&bed, &user, &live).await;
        let lists = (count(&again, "list", 403), count(&again, "list", 200));
        assert_eq!((lists, count(&again, "watch", 200)), ((1, NAMESPACES), 0), "{again:?}");
    })
    .await;
}
