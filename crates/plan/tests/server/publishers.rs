//! Definitions of many publishers, from Go modules and jars, read at test time.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_bed::{definitions, kafka, module};
use windlass_model::{Operation, Preview};

use crate::bed::Bed;
use crate::corpus::{install, shown};

fn version<'a>(definition: &'a mut Value, name: &str) -> &'a mut Value {
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions.iter_mut().find(|version| version["name"] == name).unwrap()
}

#[tokio::test]
async fn the_definition_of_kafka_is_installed_and_its_stored_version_is_not_lost() {
    let mut bed = Bed::new().await;
    let definition = kafka();
    let size = definition.to_string().len();
    assert!(size > 600_000, "{size}");
    assert_eq!(version(&mut definition.clone(), "v1beta1")["storage"], true);
    let namespace = bed.namespace.clone();
    let cluster = |replicas: Value| {
        let listener = json!({"name": "plain", "port": 9092, "type": "internal", "tls": false});
        json!({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka",
            "metadata": {"name": "events", "namespace": namespace},
            "spec": {"kafka": {"replicas": replicas, "listeners": [listener]}}})
    };
    let all = |definition: &Value, cluster: Value| [vec![definition.clone()], vec![cluster]];
    let planned =
        async |bed: &Bed, [crds, apps]: [Vec<Value>; 2]| bed.plan(&[("crds", &crds), ("apps", &apps)]).await;
    let plan = planned(&bed, all(&definition, cluster(json!(3)))).await;
    assert!(plan.is_executable(), "{}", shown(&plan));
    assert!(matches!(plan.actions[1].preview, Preview::Locally(_)), "{}", shown(&plan));
    let plan = planned(&bed, all(&definition, cluster(json!("three")))).await;
    assert!(shown(&plan).contains("invalid: spec.kafka.replicas"), "{}", shown(&plan));

    install(&mut bed, std::slice::from_ref(&definition)).await;
    let live = cluster(json!(3));
    bed.deliver(&[("apps", std::slice::from_ref(&live))]).await;
    let plan = planned(&bed, all(&definition, live.clone())).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::NoOp), "{}", shown(&plan));

    // What is preferred becomes what is stored: nothing that exists is lost by that.
    let mut stored = definition.clone();
    version(&mut stored, "v1beta1")["storage"] = json!(false);
    version(&mut stored, "v1beta2")["storage"] = json!(true);
    let plan = planned(&bed, all(&stored, live.clone())).await;
    assert!(plan.is_executable(), "{}", shown(&plan));
    assert_eq!(plan.actions[0].operation, Operation::Update, "{}", shown(&plan));
    // Dropping the old one at the same time would lose what is stored in it.
    stored["spec"]["versions"].as_array_mut().unwrap().retain(|version| version["name"] != "v1beta1");
    let plan = planned(&bed, all(&stored, live)).await;
    let told = shown(&plan);
    assert!(
        told.contains("refused stored-version") && told.contains("`v1beta1`") && told.contains("events"),
        "{told}"
    );
}

/// Returns the files of a folder whose names end so.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

/// A module, a folder in it, how the names of its files end, and how many definitions they hold.
type Publisher = (&'static str, &'static str, &'static str, usize);

const ELASTIC: Publisher =
    ("github.com/elastic/cloud-on-k8s/v3@v3.5.0", "config/crds/v1", "all-crds.yaml", 12);

const OTHERS: [Publisher; 8] = [
    ("github.com/cilium/cilium@v1.18.4", "pkg/k8s/apis/cilium.io/client/crds/v2", ".yaml", 17),
    ("github.com/cilium/cilium@v1.18.4", "pkg/k8s/apis/cilium.io/client/crds/v2alpha1", ".yaml", 5),
    ("github.com/external-secrets/external-secrets@v0.16.2", "config/crds/bases", ".yaml", 20),
    ("github.com/cert-manager/cert-manager@v1.19.1", "deploy/crds", ".yaml", 6),
    ("github.com/cloudnative-pg/cloudnative-pg@v1.28.0", "config/crd/bases", ".yaml", 10),
    ("github.com/rabbitmq/cluster-operator/v2@v2.16.0", "config/crd/bases", ".yaml", 1),
    ("github.com/zalando/postgres-operator@v1.14.0", "manifests", ".crd.yaml", 4),
    ("github.com/open-policy-agent/gatekeeper/v3@v3.23.0", "deploy", "gatekeeper.yaml", 17),
];

/// Plans what a publisher ships onto a cluster that has none of it, and returns it.
async fn planned(bed: &Bed, (name, folder, end, count): Publisher) -> Vec<Value> {
    let folder = module(name).join(folder);
    let found: Vec<Value> = files(&folder, end).iter().flat_map(|file| definitions(file)).collect();
    assert_eq!(found.len(), count, "{name}");
    let plan = bed.plan(&[("crds", &found)]).await;
    assert!(plan.is_executable(), "{name}: {}", shown(&plan));
    for action in &plan.actions {
        assert_eq!((action.operation, &action.preview), (Operation::Create, &Preview::Server), "{name}");
        // The server knows fewer formats than publishers use.
        let known = |warning: &String| warning.starts_with("unrecognized format");
        assert!(action.warnings.iter().all(known), "{name}: {}", shown(&plan));
    }
    found
}

#[tokio::test]
async fn what_publishers_ship_is_planned_with_what_the_server_says_of_it() {
    let bed = Bed::new().await;
    for publisher in OTHERS {
        planned(&bed, publisher).await;
    }
}

/// Several versions, of which one is not served, and objects that keep what no schema names.
#[tokio::test]
async fn definitions_of_several_versions_are_installed_and_then_unchanged() {
    let mut bed = Bed::new().await;
    let found = planned(&bed, ELASTIC).await;
    install(&mut bed, &found).await;
    let search = json!({"apiVersion": "elasticsearch.k8s.elastic.co/v1", "kind": "Elasticsearch",
        "metadata": {"name": "logs", "namespace": bed.namespace},
        "spec": {"version": "9.0.0", "nodeSets": [{"name": "all", "count": 1, "config": {"node.store.allow_mmap": false}}]}});
    bed.deliver(&[("apps", std::slice::from_ref(&search))]).await;
    let plan = bed.plan(&[("crds", &found), ("apps", std::slice::from_ref(&search))]).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::NoOp), "{}", shown(&plan));
    assert!(plan.is_executable(), "{}", shown(&plan));
}
