//! What two previews of one thing have in common, and what a preview shows that the manifest does not.

use serde_json::{Value, json};
use windlass_model::Operation;

use crate::bed::Bed;

/// Facts 10.2: of a creation the server makes up a uid, and labels from it, names of volumes, addresses.
#[tokio::test]
async fn two_plans_of_a_creation_have_one_digest_although_the_server_makes_things_up() {
    let bed = Bed::new().await;
    let pod = |restart: &str| json!({"restartPolicy": restart, "containers": [{"name": "a", "image": "registry.example/a:1"}]});
    let object = |api_version: &str, kind: &str, name: &str, spec: Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec});
    let ports = json!([{"port": 80}]);
    let objects = [
        object("batch/v1", "Job", "job", json!({"template": {"spec": pod("Never")}})),
        object("v1", "Pod", "pod", pod("Always")),
        object("v1", "Service", "plain", json!({"ports": ports})),
        object("v1", "Service", "port", json!({"type": "NodePort", "ports": ports})),
        object(
            "v1",
            "Service",
            "balanced",
            json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": ports}),
        ),
        object(
            "apps/v1",
            "StatefulSet",
            "set",
            json!({"serviceName": "set", "replicas": 1,
            "selector": {"matchLabels": {"app": "set"}},
            "template": {"metadata": {"labels": {"app": "set"}}, "spec": pod("Always")}}),
        ),
    ];
    let first = bed.plan(&[("shop", &objects)]).await;
    assert!(first.is_executable(), "{first:?}");
    assert!(first.actions.iter().all(|action| action.operation == Operation::Create));
    assert_eq!(bed.plan(&[("shop", &objects)]).await.change_digest(), first.change_digest());
}

/// The server takes the first address and port of its ranges for every dry-run, and another one for what it stores.
#[tokio::test]
async fn what_only_a_dry_run_chose_is_not_told_as_a_fact() {
    let bed = Bed::new().await;
    let service = |kind: &str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": bed.namespace},
            "spec": {"type": kind, "ports": [{"port": 80}]}})
    };
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job", "namespace": bed.namespace},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.example/a:1"}]}}}});
    let chosen = "(chosen by the server)";
    let plan = bed.plan(&[("shop", &[service("NodePort"), job])]).await;
    let after = |index: usize| plan.actions[index].bodies.after.as_ref().unwrap().body();
    let spec = &after(0)["spec"];
    for made_up in [&spec["clusterIP"], &spec["clusterIPs"][0], &spec["ports"][0]["nodePort"]] {
        assert_eq!(made_up, chosen, "{spec}");
    }
    assert_eq!(spec["ports"][0]["targetPort"], 80, "other defaults are told: {spec}");
    assert_eq!(after(1)["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], chosen);

    bed.deliver(&[("shop", &[service("ClusterIP")])]).await;
    let plan = bed.plan(&[("shop", &[service("NodePort")])]).await;
    let port = plan.actions[0].delta.iter().find(|change| change.path.to_string().ends_with(".nodePort"));
    assert_eq!(port.unwrap().after, Some(chosen.into()), "{plan:?}");
    let address = plan.actions[0].bodies.after.as_ref().unwrap().body()["spec"]["clusterIP"].clone();
    assert_eq!(
        Some(address),
        plan.actions[0].bodies.before.as_ref().map(|live| live.body()["spec"]["clusterIP"].clone())
    );
}

/// The server lists several errors in random order, or only one of them.
#[tokio::test]
async fn two_plans_of_a_broken_object_have_one_digest() {
    let bed = Bed::new().await;
    let mut broken = bed.config("a", &json!({"k": 1, "l": true, "m": 2}));
    broken["dta"] = json!({});
    broken["spec"] = json!({});
    let digest = bed.plan(&[("shop", std::slice::from_ref(&broken))]).await.change_digest();
    for _ in 0..4 {
        let plan = bed.plan(&[("shop", std::slice::from_ref(&broken))]).await;
        assert!(!plan.is_executable());
        assert_eq!(plan.change_digest(), digest);
    }
}

/// A field behind a feature gate that is off is owned and not there, without a word of the server's.
#[tokio::test]
async fn a_declared_field_that_the_server_drops_is_named() {
    let bed = Bed::new().await;
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": bed.namespace},
        "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
            "template": {"metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}}}});
    let told = "warning spec.updateStrategy.rollingUpdate.maxUnavailable is declared, but the server does not store it";
    bed.check(std::slice::from_ref(&set), &[&["create StatefulSet", told]]).await;
    bed.deliver(&[("shop", std::slice::from_ref(&set))]).await;
    bed.check(&[set], &[&["no-op StatefulSet", told]]).await;
}

/// kubernetes issues 118293 and 94420: an unchanged autoscaler must not look changed.
#[tokio::test]
async fn an_unchanged_autoscaler_is_no_change() {
    let bed = Bed::new().await;
    let metric =
        |kind: &str, body: Value| json!({"type": kind, (kind[..1].to_lowercase() + &kind[1..]): body});
    let utilization = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}});
    let average =
        json!({"metric": {"name": "requests"}, "target": {"type": "AverageValue", "averageValue": "1000m"}});
    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": {"minReplicas": 1, "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": [metric("Pods", average), metric("Resource", utilization)]}});
    bed.deliver(&[("shop", std::slice::from_ref(&scaler))]).await;
    let plan = bed.check(&[scaler], &[&["no-op HorizontalPodAutoscaler"]]).await;
    assert!(plan.actions[0].warnings.is_empty(), "{plan:?}");
}

/// Facts 10.2: the dry-run is accepted, and the store refuses it.
#[tokio::test]
async fn an_object_that_the_store_may_not_take_is_told() {
    let bed = Bed::new().await;
    let env: Vec<Value> =
        (0..17).map(|number| json!({"name": format!("E{number}"), "value": "x".repeat(100_000)})).collect();
    let large = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "large", "namespace": bed.namespace},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "a", "image": "registry.example/a:1", "env": env}]}}}});
    bed.check(&[large], &[&["create Deployment", "warning is 16", "no preview shows"]]).await;
}
