//! The ways that plans name for refused changes, gone to their end: commands that a recipe holds are run as they are.

use serde_json::{Value, json};
use windlass_model::Operation;

use crate::bed::{is_quiet, recipe, served};
use crate::immutables::{Fixtures, set, template};

/// A delivered object, a change of it that the server refuses, and whether the way to it is a deletion.
struct Row {
    live: Value,
    changed: Value,
    deletes: bool,
}

fn row(live: &Value, pointer: &str, value: &Value, deletes: bool) -> Row {
    let mut changed = live.clone();
    set(&mut changed, pointer, value);
    Row { live: live.clone(), changed, deletes }
}

/// Carries out every recipe and delivers what was refused before: under its own name after a deletion, else under another
/// one beside the object, which stays as it was.
async fn check(all: &Fixtures, rows: &[Row]) {
    let bed = &all.bed;
    let bodies = |body: fn(&Row) -> &Value| rows.iter().map(body).cloned().collect::<Vec<_>>();
    bed.deliver(&[("shop", &bodies(|row| &row.live))]).await;
    let plan = bed.plan(&[("shop", &bodies(|row| &row.changed))]).await;
    let mut next = Vec::new();
    for Row { live, changed, deletes } in rows {
        let (kind, name) = (&changed["kind"], &changed["metadata"]["name"]);
        let is_it = |object: &windlass_model::ObjectRef| *kind == object.kind.kind && *name == object.name;
        let action = plan.actions.iter().find(|action| is_it(&action.object)).unwrap();
        assert_eq!(action.operation, Operation::Recreate, "{}", action.object);
        let recipe = recipe(action).unwrap_or_else(|| panic!("{} has no recipe", action.object));
        assert_eq!(!recipe.steps.is_empty(), *deletes, "{}: {recipe:?}", action.object);
        bed.carry_out(recipe);
        let mut changed = changed.clone();
        if !deletes {
            let other = format!("{}-2", name.as_str().unwrap());
            assert!(recipe.instead.as_ref().unwrap().contains(&other), "{recipe:?}");
            changed["metadata"]["name"] = other.into();
            next.push(live.clone());
        }
        next.push(changed);
    }
    let plan = bed.plan(&[("shop", &next)]).await;
    let told: Vec<String> = plan
        .actions
        .iter()
        .map(|action| format!("{} {}: {:?}", action.operation.word(), action.object, action.problem))
        .collect();
    assert!(plan.is_executable(), "{}\n{:?}", told.join("\n"), plan.refusals);
    let stays = rows.iter().filter(|row| !row.deletes).count();
    let count = |operation| plan.actions.iter().filter(|action| action.operation == operation).count();
    assert_eq!(
        (count(Operation::Create), count(Operation::NoOp)),
        (rows.len(), stays),
        "{}",
        told.join("\n")
    );
    bed.deliver(&[("shop", &next)]).await;
    assert!(is_quiet(&bed.plan(&[("shop", &next)]).await));
}

fn held() -> Value {
    let mut held = template();
    held["spec"]["nodeSelector"] = json!({"nowhere": "at-all"});
    held
}

#[tokio::test]
async fn of_workloads() {
    let mut all = Fixtures::new().await;
    let selector = json!({"matchLabels": {"app": "db"}});
    let tier = "/spec/selector/matchLabels/tier";
    let mut rows = Vec::new();
    for kind in ["Deployment", "ReplicaSet", "DaemonSet"] {
        let mut body = json!({"spec": {"selector": selector, "template": held()}});
        if kind != "DaemonSet" {
            body["spec"]["replicas"] = json!(1);
        }
        rows.push(row(&all.inside("apps/v1", kind, &body), tier, &json!("data"), true));
    }
    let mut once = held();
    once["spec"]["restartPolicy"] = json!("Never");
    let job = all.inside("batch/v1", "Job", &json!({"spec": {"template": once}}));
    let image = "/spec/template/spec/containers/0/image";
    rows.push(row(&job, image, &json!("registry.example/db:2"), true));
    let pod = all.inside("v1", "Pod", &json!({"spec": held()["spec"]}));
    rows.push(row(&pod, "/spec/nodeSelector", &json!({"other": "place"}), true));
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "storageClassName": "absent", "resources": {"requests": {"storage": "2Gi"}}}});
    let database = json!({"spec": {"serviceName": "db", "replicas": 1, "selector": selector,
        "template": held(), "volumeClaimTemplates": [claim]}});
    let mut database = || all.inside("apps/v1", "StatefulSet", &database);
    rows.push(row(&database(), "/spec/serviceName", &json!("other"), true));
    rows.push(row(&database(), tier, &json!("data"), true));
    let storage = "/spec/volumeClaimTemplates/0/spec/resources/requests/storage";
    rows.push(row(&database(), storage, &json!("1Gi"), false));
    check(&all, &rows).await;
}

#[tokio::test]
async fn of_storage() {
    let mut all = Fixtures::new().await;
    let class = all.outside("storage.k8s.io/v1", "StorageClass", &json!({"provisioner": "example.com/none"}));
    let free = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "absent", "hostPath": {"path": "/nowhere"}}});
    let free = all.outside("v1", "PersistentVolume", &free);
    let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "absent-a",
        "resources": {"requests": {"storage": "1Gi"}}}});
    let claim = all.inside("v1", "PersistentVolumeClaim", &claim);
    let rows = [
        row(&class, "/reclaimPolicy", &json!("Retain"), true),
        row(&free, "/spec/hostPath/path", &json!("/elsewhere"), true),
        row(&claim, "/spec/storageClassName", &json!("absent-b"), false),
    ];
    check(&all, &rows).await;
}

#[tokio::test]
async fn of_configuration_rights_and_networks() {
    let mut all = Fixtures::new().await;
    let sealed = json!({"immutable": true, "data": {"a": "MQ=="}});
    let mut rows: Vec<Row> = ["ConfigMap", "Secret"]
        .map(|kind| row(&all.inside("v1", kind, &sealed), "/data/a", &json!("Mg=="), true))
        .into();
    let typed = all.inside("v1", "Secret", &json!({"type": "Opaque"}));
    rows.push(row(&typed, "/type", &json!("example.com/other"), true));
    let role =
        json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}});
    let rights = "rbac.authorization.k8s.io/v1";
    let bindings =
        [all.inside(rights, "RoleBinding", &role), all.outside(rights, "ClusterRoleBinding", &role)];
    rows.extend(bindings.iter().map(|binding| row(binding, "/roleRef/name", &json!("edit"), true)));
    let service = all.inside("v1", "Service", &json!({"spec": {"ports": [{"port": 80}]}}));
    rows.push(row(&service, "/spec/clusterIP", &json!("None"), true));
    let slice = json!({"addressType": "IPv4", "endpoints": [], "ports": []});
    let slice = all.inside("discovery.k8s.io/v1", "EndpointSlice", &slice);
    rows.push(row(&slice, "/addressType", &json!("IPv6"), true));
    let ingress = json!({"spec": {"controller": "example.com/a"}});
    let ingress = all.outside("networking.k8s.io/v1", "IngressClass", &ingress);
    rows.push(row(&ingress, "/spec/controller", &json!("example.com/b"), true));
    let priority = all.outside("scheduling.k8s.io/v1", "PriorityClass", &json!({"value": 1}));
    rows.push(row(&priority, "/value", &json!(2), true));
    let runtime = all.outside("node.k8s.io/v1", "RuntimeClass", &json!({"handler": "a"}));
    rows.push(row(&runtime, "/handler", &json!("b"), true));
    let revision = all.inside("apps/v1", "ControllerRevision", &json!({"revision": 1, "data": {"a": "1"}}));
    rows.push(row(&revision, "/data/a", &json!("2"), true));
    check(&all, &rows).await;
}

fn definition(all: &mut Fixtures, kind: &str) -> Value {
    let group = format!("g{}.example.com", all.bed.suffix);
    all.bed.leftovers.push(("customresourcedefinition".into(), format!("foos.{group}")));
    let engine = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "engine is immutable"}]});
    let spec = json!({"type": "object", "properties": {"engine": engine}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("foos.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": "foos"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

async fn install(all: &Fixtures, definition: &Value) -> String {
    all.bed.kubectl(&["create", "-f", "-"], &definition.to_string());
    let group = definition["spec"]["group"].as_str().unwrap();
    served(&all.bed, group, "Foo").await;
    format!("{group}/v1")
}

#[tokio::test]
async fn of_custom_resources_with_rules_of_their_own() {
    let mut all = Fixtures::new().await;
    let foo = definition(&mut all, "Foo");
    let version = install(&all, &foo).await;
    let object = all.inside(&version, "Foo", &json!({"spec": {"engine": "a"}}));
    check(&all, &[row(&object, "/spec/engine", &json!("b"), false)]).await;
}

/// Definitions go with all their objects, so that one is deleted only where there are none.
#[tokio::test]
async fn of_definitions() {
    let mut all = Fixtures::new().await;
    let (foo, bar) = (definition(&mut all, "Foo"), definition(&mut all, "Bar"));
    let version = install(&all, &foo).await;
    let object = all.inside(&version, "Foo", &json!({"spec": {"engine": "a"}}));
    all.bed.kubectl(&["create", "-f", "-"], &object.to_string());
    let refused: &[&str] = &["refused definition-identity"];
    let told = ["recreate CustomResourceDefinition", "the one object of the kind goes with it", "steps: []"];
    all.bed.check(std::slice::from_ref(&bar), &[&told, refused]).await;
    let plural = bar["metadata"]["name"].as_str().unwrap();
    all.bed.kubectl(&["-n", &all.bed.namespace, "delete", plural, "--all"], "");
    let told = ["recreate CustomResourceDefinition", "no object of the kind exists"];
    let plan = all.bed.check(std::slice::from_ref(&bar), &[&told, refused]).await;
    all.bed.carry_out(recipe(&plan.actions[0]).unwrap());
    all.bed.check(&[bar], &[&["create CustomResourceDefinition"]]).await;
}
