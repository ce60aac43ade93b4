//! Creation, no-op, update, restart.

use serde_json::{Value, json};
use windlass_model::Operation;

use crate::bed::{Bed, is_quiet};

/// One object of many kinds, with what makes servers write again and again: empty rules of a policy,
/// quantities in another spelling, defaults that are left out.
fn many(bed: &Bed) -> Vec<Value> {
    let meta = |name: &str| json!({"name": name, "namespace": bed.namespace});
    let container = json!({"name": "db", "image": "registry.example/db:1", "ports": [{"containerPort": 5432}],
        "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}}});
    let template = |label: &str| json!({"metadata": {"labels": {"app": label}}, "spec": {"containers": [container.clone()]}});
    vec![
        bed.config("a", &json!({"k": "1"})),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta("s"), "data": {"k": "aHVudGVyMg=="}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta("sa")}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("db"),
            "spec": {"selector": {"app": "db"}, "ports": [{"name": "sql", "port": 5432}]}}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta("deny"),
            "spec": {"podSelector": {"matchLabels": {}}, "ingress": [], "policyTypes": ["Ingress"]}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta("r"),
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db"),
            "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
                "template": template("db"),
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1024Mi"}}}}]}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web"),
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template("web")}}),
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("db"),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}}),
    ]
}

#[tokio::test]
async fn created_then_quiet() {
    let bed = Bed::new().await;
    let objects = many(&bed);
    let plan = bed.plan(&[("shop", &objects)]).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::Create), "{plan:?}");
    assert!(plan.is_executable(), "{plan:?}");
    bed.deliver(&[("shop", &objects)]).await;
    let plan = bed.plan(&[("shop", &objects)]).await;
    assert!(is_quiet(&plan), "{:#?}", plan.actions.iter().map(|a| (&a.object, &a.delta)).collect::<Vec<_>>());
    assert_eq!(plan.actions.len(), objects.len());
}

#[tokio::test]
async fn two_plans_of_one_change_have_one_digest() {
    let bed = Bed::new().await;
    let mut objects = many(&bed);
    let first = bed.plan(&[("shop", &objects)]).await.change_digest();
    assert_eq!(bed.plan(&[("shop", &objects)]).await.change_digest(), first);
    bed.deliver(&[("shop", &objects)]).await;
    objects[0]["data"]["k"] = "2".into();
    let update = bed.plan(&[("shop", &objects)]).await.change_digest();
    assert_eq!(bed.plan(&[("shop", &objects)]).await.change_digest(), update);
    objects[0]["data"]["k"] = "3".into();
    assert_ne!(bed.plan(&[("shop", &objects)]).await.change_digest(), update);
}

#[tokio::test]
async fn changed_fields_and_restarts() {
    let bed = Bed::new().await;
    let mut all = many(&bed);
    all[6]["spec"]["replicas"] = 2.into();
    bed.deliver(&[("shop", &all)]).await;
    all[0]["data"] = json!({"k": "2", "l": "3"});
    all[6]["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/db:2".into();
    bed.check(
        &[all[0].clone(), all[6].clone()],
        &[
            &["update ConfigMap/a Server", "Changed data.k", "Added data.l"],
            &[
                "update StatefulSet.apps/db Server",
                "Changed spec.template.spec.containers[name=db].image",
                "one after the other: db-1, db-0",
            ],
            &["prune PodDisruptionBudget"],
            &["prune Deployment"],
            &["prune NetworkPolicy"],
            &["prune Service/"],
            &["prune Secret"],
            &["prune Role"],
            &["prune ServiceAccount"],
            &["refused protected-kind", "Secret"],
        ],
    )
    .await;
}

/// `status` and `stringData` are never stored as they are written; that is no loss worth a warning.
#[tokio::test]
async fn what_is_written_elsewhere_is_not_reported_as_lost() {
    let bed = Bed::new().await;
    let mut set = many(&bed).swap_remove(6);
    set["status"] = json!({"replicas": 3});
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "s", "namespace": bed.namespace}, "stringData": {"k": "v"}});
    let plan = bed.check(&[set, secret], &[&["create Secret"], &["create StatefulSet"]]).await;
    assert!(plan.actions.iter().all(|action| action.warnings.is_empty()), "{plan:?}");
}

/// kubernetes issue 108708 and website issue 29739: both look harmless in a manifest.
#[tokio::test]
async fn reordered_variables_restart_and_dropped_replicas_fall_back() {
    let bed = Bed::new().await;
    let mut deployment = many(&bed).swap_remove(7);
    let env =
        |first: &str, second: &str| json!([{"name": first, "value": "1"}, {"name": second, "value": "1"}]);
    deployment["spec"]["replicas"] = 3.into();
    deployment["spec"]["template"]["spec"]["containers"][0]["env"] = env("A", "B");
    bed.deliver(&[("shop", std::slice::from_ref(&deployment))]).await;
    deployment["spec"]["template"]["spec"]["containers"][0]["env"] = env("B", "A");
    bed.check(
        std::slice::from_ref(&deployment),
        &[&[
            "update Deployment",
            "Reordered spec.template.spec.containers[name=db].env",
            "only the order of",
        ]],
    )
    .await;
    if let Some(spec) = deployment["spec"].as_object_mut() {
        spec.remove("replicas");
    }
    bed.check(&[deployment], &[&["update Deployment", "falls from 3 to its default, 1"]]).await;
}
