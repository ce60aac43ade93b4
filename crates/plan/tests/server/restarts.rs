//! Which pods restart, as plans tell it, beside what controllers really do.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_bed::definitions;
use windlass_model::{Forecast, ObjectRef};

use crate::bed::Bed;
use crate::corpus::install;

/// A workload of one pod that reads a ConfigMap or a Secret into variables.
fn reader(bed: &Bed, name: &str, source: &str, of_pods: &Value, own: &Value) -> Value {
    let from = if source == "ConfigMap" {
        json!([{"configMapRef": {"name": "conf"}}])
    } else {
        json!([{"secretRef": {"name": "conf"}}])
    };
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": bed.namespace, "annotations": own},
        "spec": {"selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}, "annotations": of_pods},
                "spec": {"terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "a", "image": "registry.example/a:1", "envFrom": from}]}}}})
}

/// The configuration in one state, with all who read it.
fn commit(bed: &Bed, source: &str, value: &str) -> Vec<Value> {
    let content = if source == "ConfigMap" { "data" } else { "stringData" };
    let mut conf =
        json!({"apiVersion": "v1", "kind": source, "metadata": {"name": "conf", "namespace": bed.namespace}});
    conf[content] = json!({"colour": value});
    let auto = json!({"reloader.stakater.com/auto": "true"});
    vec![
        conf,
        reader(bed, "stamped", source, &json!({"checksum/config": value}), &json!({})),
        reader(bed, "reloaded", source, &json!({}), &auto),
        reader(bed, "plain", source, &json!({}), &json!({})),
    ]
}

const READERS: [&str; 3] = ["stamped", "reloaded", "plain"];

/// Returns the uids of each reader's pods once its controller has done what it has to.
fn pods(bed: &Bed) -> BTreeMap<&'static str, String> {
    let of = |name: &'static str| {
        let (deployment, selector) = (format!("deployment/{name}"), format!("app={name}"));
        bed.kubectl(&["-n", &bed.namespace, "rollout", "status", &deployment, "--timeout=120s"], "");
        let alive = "jsonpath={range .items[?(@.status.phase==\"Running\")]}{.metadata.deletionTimestamp}{.metadata.uid} {end}";
        let pods = bed.kubectl(&["-n", &bed.namespace, "get", "pods", "-l", &selector, "-o", alive], "");
        // What is being deleted is told by the time in front of its uid.
        let staying = pods.split_whitespace().filter(|uid| uid.len() == 36).map(str::to_owned);
        (name, staying.collect())
    };
    READERS.map(of).into()
}

fn forecasts(plan: &windlass_model::Plan, is_it: impl Fn(&ObjectRef) -> bool) -> String {
    let action = plan.actions.iter().find(|action| is_it(&action.object)).unwrap();
    let tell = |forecast: &Forecast| match forecast {
        Forecast::Restart { why, pods } => format!("restart {pods:?}: {why}"),
        Forecast::Note { text } => format!("note: {text}"),
        other => format!("{other:?}"),
    };
    action.forecasts.iter().map(tell).collect::<Vec<_>>().join("\n")
}

/// No reloader runs here, so that what asks for one stays as it is: hence "possibly".
#[tokio::test]
async fn only_what_the_template_shows_restarts_by_itself_when_configuration_changes() {
    for source in ["ConfigMap", "Secret"] {
        let bed = Bed::new().await;
        bed.deliver(&[("shop", &commit(&bed, source, "red"))]).await;
        let before = pods(&bed);
        assert!(before.values().all(|uids| uids.len() == 36), "{before:?}");
        let changed = commit(&bed, source, "blue");
        let plan = bed.plan(&[("shop", &changed)]).await;
        let conf = forecasts(&plan, |object| object.name == "conf");
        for told in [
            "stamped reads the new values: its pods restart with this commit",
            "possibly: Reloader restarts the pods of Deployment.apps",
            "plain keep the old values until they are restarted",
        ] {
            assert!(conf.contains(told), "{source}: {told} is not in {conf}");
        }
        let stamped = forecasts(&plan, |object| object.name == "stamped");
        assert!(stamped.contains("because of: annotation checksum/config"), "{stamped}");
        assert_eq!((plan.toll.restarted_pods, plan.toll.uncounted_restarts), (1, 1));
        bed.deliver(&[("shop", &changed)]).await;
        let after = pods(&bed);
        let restarted: Vec<&str> = READERS.into_iter().filter(|name| before[name] != after[name]).collect();
        assert_eq!(restarted, ["stamped"], "{source}: {before:?} {after:?}");
    }
}

/// What an operator does is told by the rules of that operator, from its own definition.
#[tokio::test]
async fn a_known_operator_rolls_the_pods_of_its_resource() {
    let mut bed = Bed::new().await;
    let module = windlass_bed::module("github.com/rabbitmq/cluster-operator/v2@v2.16.0");
    let crds = definitions(&module.join("config/crd/bases"));
    install(&mut bed, &crds).await;
    let broker = |image: &str, size: &str| {
        json!({"apiVersion": "rabbitmq.com/v1beta1", "kind": "RabbitmqCluster",
            "metadata": {"name": "events", "namespace": bed.namespace},
            "spec": {"replicas": 2, "image": image, "persistence": {"storage": size}}})
    };
    let now = broker("registry.example/mq:1", "1Gi");
    bed.deliver(&[("shop", std::slice::from_ref(&now))]).await;
    let path = "jsonpath={.metadata.uid}";
    let uid = bed.kubectl(&["-n", &bed.namespace, "get", "rabbitmqcluster", "events", "-o", path], "");
    let owner = json!({"apiVersion": "rabbitmq.com/v1beta1", "kind": "RabbitmqCluster", "name": "events", "uid": uid, "controller": true});
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "events-server", "namespace": bed.namespace, "ownerReferences": [owner]},
        "spec": {"serviceName": "events", "replicas": 2, "selector": {"matchLabels": {"app": "events"}},
            "template": {"metadata": {"labels": {"app": "events"}},
                "spec": {"containers": [{"name": "a", "image": "registry.example/mq:1"}]}}}});
    bed.kubectl(&["create", "-f", "-"], &set.to_string());
    bed.kubectl(
        &["-n", &bed.namespace, "rollout", "status", "statefulset/events-server", "--timeout=120s"],
        "",
    );

    let plan = bed.plan(&[("crds", &crds), ("shop", &[broker("registry.example/mq:2", "2Gi")])]).await;
    let told = forecasts(&plan, |object| object.name == "events");
    for wanted in [
        "restart Some(2): 2 pods, rolled by the RabbitMQ operator",
        "because of: spec.image",
        "note: the RabbitMQ operator restarts no pod for spec.persistence.storage (volumes only grow",
    ] {
        assert!(told.contains(wanted), "{wanted} is not in {told}");
    }
    assert_eq!((plan.toll.restarted_pods, plan.toll.uncounted_restarts), (2, 0));

    let other = bed.config("other", &json!({}));
    let plan = bed.plan(&[("crds", &crds), ("shop", &[other])]).await;
    let told = forecasts(&plan, |object| object.name == "events");
    assert!(told.contains("takes along 2 pods"), "{told}");
}
