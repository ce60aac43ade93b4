//! Changes that the server refuses on live objects, each told by the fields that it is about, and changes that only look
//! like them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_model::{Action, Problem};

use crate::bed::Bed;

/// An object that is delivered, a change of it, and what the plan says about that.
struct Row {
    live: Value,
    changed: Value,
    want: Want,
}

enum Want {
    /// Only another object can have it so; these fields are named, and no others.
    Recreate(&'static [&'static str]),
    /// The manifest is wrong under any circumstances; this is part of what is said.
    Invalid(&'static str),
    /// The change is accepted.
    Update,
    /// There is no change.
    Nothing,
}

fn row(live: &Value, pointer: &str, value: &Value, want: Want) -> Row {
    let mut changed = live.clone();
    set(&mut changed, pointer, value);
    Row { live: live.clone(), changed, want }
}

/// Sets a field, or takes it out where the value is null.
pub(crate) fn set(body: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = parent.split('/').skip(1).fold(body, |at, key| match key.parse::<usize>() {
        Ok(index) => &mut at[index],
        Err(_) => &mut at[key],
    });
    match (key.parse::<usize>(), value) {
        (Ok(index), _) => parent[index] = value.clone(),
        (_, Value::Null) => drop(parent.as_object_mut().unwrap().remove(key)),
        _ => parent[key] = value.clone(),
    }
}

/// Delivers everything, plans all changes at once, and compares.
async fn check(bed: &Bed, rows: Vec<Row>) {
    let live: Vec<Value> = rows.iter().map(|row| row.live.clone()).collect();
    bed.deliver(&[("shop", &live)]).await;
    let changed: Vec<Value> = rows.iter().map(|row| row.changed.clone()).collect();
    let plan = bed.plan(&[("shop", &changed)]).await;
    let actions: BTreeMap<(String, &str), &Action> = plan
        .actions
        .iter()
        .map(|action| ((action.object.kind.kind.clone(), action.object.name.as_str()), action))
        .collect();
    for Row { changed, want, .. } in &rows {
        let name = changed["metadata"]["name"].as_str().unwrap();
        let action = actions[&(changed["kind"].as_str().unwrap().to_owned(), name)];
        let told = action.problem.as_ref().map(Problem::summary).unwrap_or_default();
        let got = format!("{} {} {told}", action.operation.word(), action.object);
        match (want, &action.problem) {
            (Want::Recreate(fields), Some(Problem::Immutable { paths, .. })) => {
                assert_eq!(action.operation.word(), "recreate", "{got}");
                let named = paths.iter().zip(*fields).all(|(path, field)| path.starts_with(field));
                assert!(named && paths.len() == fields.len(), "{got}, not {fields:?}");
            }
            (Want::Invalid(words), Some(Problem::Invalid { .. })) => assert!(told.contains(words), "{got}"),
            (Want::Update, None) => assert_eq!(action.operation.word(), "update", "{got}"),
            (Want::Nothing, None) => assert_eq!(action.operation.word(), "no-op", "{got}"),
            _ => panic!("{got}"),
        }
    }
}

/// What the fixtures of one test share.
pub(crate) struct Fixtures {
    pub(crate) bed: Bed,
    count: usize,
}

impl Fixtures {
    pub(crate) async fn new() -> Self {
        Self { bed: Bed::new().await, count: 0 }
    }

    /// Returns an object of a name of its own in the test's namespace.
    pub(crate) fn inside(&mut self, api_version: &str, kind: &str, body: &Value) -> Value {
        let mut object = self.outside(api_version, kind, body);
        let (_, name) = self.bed.leftovers.pop().unwrap();
        object["metadata"] = json!({"name": name, "namespace": self.bed.namespace});
        object
    }

    /// Returns a cluster-scoped object of a name of its own.
    pub(crate) fn outside(&mut self, api_version: &str, kind: &str, body: &Value) -> Value {
        self.count += 1;
        let name = format!("o{}-{}", self.count, self.bed.suffix);
        self.bed.leftovers.push((kind.to_lowercase(), name.clone()));
        let mut object = body.clone();
        object["apiVersion"] = api_version.into();
        object["kind"] = kind.into();
        object["metadata"] = json!({"name": name});
        object
    }
}

pub(crate) fn template() -> Value {
    json!({"metadata": {"labels": {"app": "db", "tier": "data"}},
        "spec": {"containers": [{"name": "db", "image": "registry.example/db:1"}]}})
}

/// kubernetes issue 122246: the server names no field, and a change of the template that comes along is lost with it.
#[tokio::test]
async fn of_stateful_sets() {
    let mut all = Fixtures::new().await;
    let claim = json!({"metadata": {"name": "data", "labels": {"x": "1"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "a", "resources": {"requests": {"storage": "1Gi"}}}});
    let other = json!({"metadata": {"name": "wal"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let mut set = |pointer: &str, value: &Value, want: Want| {
        let body = json!({"spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
            "template": template(), "volumeClaimTemplates": [claim]}});
        row(&all.inside("apps/v1", "StatefulSet", &body), pointer, value, want)
    };
    let label = "/spec/volumeClaimTemplates/0/metadata/labels/x";
    let storage = "/spec/volumeClaimTemplates/0/spec/resources/requests/storage";
    let rows = vec![
        set("/spec/serviceName", &json!("other"), Want::Recreate(&["spec.serviceName"])),
        set("/spec/podManagementPolicy", &json!("Parallel"), Want::Recreate(&["spec.podManagementPolicy"])),
        set(
            "/spec/selector/matchLabels/tier",
            &json!("data"),
            Want::Recreate(&["spec.selector.matchLabels.tier"]),
        ),
        set(label, &json!("2"), Want::Recreate(&["spec.volumeClaimTemplates[0].metadata.labels.x"])),
        set(
            "/spec/volumeClaimTemplates/0/spec/storageClassName",
            &json!("b"),
            Want::Recreate(&["spec.volumeClaimTemplates[0].spec.storageClassName"]),
        ),
        set(
            storage,
            &json!("2Gi"),
            Want::Recreate(&["spec.volumeClaimTemplates[0].spec.resources.requests.storage"]),
        ),
        set(
            "/spec/volumeClaimTemplates",
            &json!([claim, other]),
            Want::Recreate(&["spec.volumeClaimTemplates"]),
        ),
        set("/spec/volumeClaimTemplates", &json!([]), Want::Recreate(&["spec.volumeClaimTemplates"])),
        set("/spec/volumeClaimTemplates", &Value::Null, Want::Recreate(&["spec.volumeClaimTemplates"])),
        set("/spec/updateStrategy", &json!({"type": "Sometimes"}), Want::Invalid("spec.updateStrategy")),
        set(storage, &json!("1024Mi"), Want::Nothing),
        set("/spec/minReadySeconds", &json!(5), Want::Update),
    ];
    let mut both = set("/spec/serviceName", &json!("other"), Want::Recreate(&["spec.serviceName"]));
    both.changed["spec"]["template"]["spec"]["containers"][0]["image"] = json!("registry.example/db:2");
    check(&all.bed, rows.into_iter().chain([both]).collect()).await;
}

#[tokio::test]
async fn of_other_workloads() {
    let mut all = Fixtures::new().await;
    let selector = json!({"matchLabels": {"app": "db"}});
    let tier = "/spec/selector/matchLabels/tier";
    let named = || Want::Recreate(&["spec.selector.matchLabels.tier"]);
    let deployment = json!({"spec": {"replicas": 0, "selector": selector, "template": template()}});
    let deployment = all.inside("apps/v1", "Deployment", &deployment);
    let mut held = template();
    held["spec"]["nodeSelector"] = json!({"nowhere": "at-all"});
    let agent =
        all.inside("apps/v1", "DaemonSet", &json!({"spec": {"selector": selector, "template": held}}));
    let mut job = |pointer: &str, value: Value, want: Want| {
        let pod =
            json!({"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.example/a:1"}]});
        let body = json!({"spec": {"suspend": true, "completions": 2, "template": {"spec": pod}}});
        row(&all.inside("batch/v1", "Job", &body), pointer, &value, want)
    };
    let image = "/spec/template/spec/containers/0/image";
    let jobs = vec![
        job(
            image,
            json!("registry.example/a:2"),
            Want::Recreate(&["spec.template.spec.containers[name=a].image"]),
        ),
        job("/spec/completions", json!(3), Want::Recreate(&["spec.completions"])),
        job("/spec/parallelism", json!(2), Want::Update),
        job("/spec/template/spec/nodeSelector", json!({"a": "b"}), Want::Update),
    ];
    let mut pod = |pointer: &str, value: Value, want: Want| {
        let body = json!({"spec": {"nodeSelector": {"nowhere": "at-all"}, "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "a", "image": "registry.example/a:1", "env": [{"name": "A", "value": "1"}]}]}});
        row(&all.inside("v1", "Pod", &body), pointer, &value, want)
    };
    let env = "/spec/containers/0/env/0/value";
    let pods = vec![
        pod(env, json!("2"), Want::Recreate(&["spec.containers[name=a].env[name=A].value"])),
        pod("/spec/containers/0/image", json!("registry.example/a:2"), Want::Update),
    ];
    let workloads =
        vec![row(&deployment, tier, &json!("data"), named()), row(&agent, tier, &json!("data"), named())];
    check(&all.bed, workloads.into_iter().chain(jobs).chain(pods).collect()).await;
}

#[tokio::test]
async fn of_storage() {
    let mut all = Fixtures::new().await;
    let mut class = |pointer: &str, value: Value, want: Want| {
        let body = json!({"provisioner": "example.com/none", "parameters": {"a": "1"}});
        row(&all.outside("storage.k8s.io/v1", "StorageClass", &body), pointer, &value, want)
    };
    let mut rows = vec![
        class("/parameters/a", json!("2"), Want::Recreate(&["parameters.a"])),
        class("/provisioner", json!("example.com/other"), Want::Recreate(&["provisioner"])),
        class("/reclaimPolicy", json!("Retain"), Want::Recreate(&["reclaimPolicy"])),
        class("/volumeBindingMode", json!("WaitForFirstConsumer"), Want::Recreate(&["volumeBindingMode"])),
        class("/allowVolumeExpansion", json!(true), Want::Update),
    ];
    let volume = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "storageClassName": "absent", "hostPath": {"path": "/nowhere"}}});
    let volume = all.outside("v1", "PersistentVolume", &volume);
    rows.push(row(
        &volume,
        "/spec/hostPath/path",
        &json!("/elsewhere"),
        Want::Recreate(&["spec.hostPath.path"]),
    ));
    let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "absent-a",
        "resources": {"requests": {"storage": "1Gi"}}}});
    let claim = all.inside("v1", "PersistentVolumeClaim", &claim);
    let mut larger = claim.clone();
    larger["metadata"]["name"] = json!("larger");
    rows.extend([
        row(&claim, "/spec/storageClassName", &json!("absent-b"), Want::Recreate(&["spec.storageClassName"])),
        row(
            &larger,
            "/spec/resources/requests/storage",
            &json!("2Gi"),
            Want::Recreate(&["spec.resources.requests.storage"]),
        ),
    ]);
    check(&all.bed, rows).await;
}

#[tokio::test]
async fn of_configuration_and_rights() {
    let mut all = Fixtures::new().await;
    let mut rows = Vec::new();
    for kind in ["ConfigMap", "Secret"] {
        let body = json!({"immutable": true, "data": {"a": "MQ=="}});
        let sealed = all.inside("v1", kind, &body);
        rows.push(row(&sealed, "/data/a", &json!("Mg=="), Want::Recreate(&["data.a"])));
        let unsealed = all.inside("v1", kind, &body);
        rows.push(row(&unsealed, "/immutable", &json!(false), Want::Recreate(&["immutable"])));
        let forgotten = all.inside("v1", kind, &body);
        rows.push(row(&forgotten, "/immutable", &Value::Null, Want::Recreate(&["immutable"])));
        let labelled = all.inside("v1", kind, &body);
        rows.push(row(&labelled, "/metadata/labels", &json!({"a": "b"}), Want::Update));
    }
    let typed = all.inside("v1", "Secret", &json!({"type": "Opaque"}));
    rows.push(row(&typed, "/type", &json!("example.com/other"), Want::Recreate(&["type"])));
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
    let binding = all.inside("rbac.authorization.k8s.io/v1", "RoleBinding", &json!({"roleRef": role}));
    rows.push(row(&binding, "/roleRef/name", &json!("edit"), Want::Recreate(&["roleRef.name"])));
    let priority = all.outside("scheduling.k8s.io/v1", "PriorityClass", &json!({"value": 1}));
    rows.push(row(&priority, "/value", &json!(2), Want::Recreate(&["value"])));
    check(&all.bed, rows).await;
}

#[tokio::test]
async fn of_networks_and_budgets() {
    let mut all = Fixtures::new().await;
    let mut service = |spec: Value, pointer: &str, value: Value, want: Want| {
        let mut spec = spec;
        spec["ports"] = json!([{"port": 80}]);
        row(&all.inside("v1", "Service", &json!({"spec": spec})), pointer, &value, want)
    };
    let balanced = json!({"type": "LoadBalancer", "loadBalancerClass": "example.com/a"});
    let external = json!({"type": "ExternalName", "externalName": "db.example.com", "ports": [{"port": 80}]});
    let mut rows = vec![
        service(json!({}), "/spec/clusterIP", json!("None"), Want::Recreate(&["spec.clusterIPs[0]"])),
        // No address is none of another's.
        service(json!({"clusterIP": ""}), "/spec/sessionAffinity", json!("None"), Want::Update),
        service(json!({"clusterIP": ""}), "/spec/clusterIP", json!(""), Want::Nothing),
        service(
            balanced,
            "/spec/loadBalancerClass",
            json!("example.com/b"),
            Want::Recreate(&["spec.loadBalancerClass"]),
        ),
        service(json!({}), "/spec", external, Want::Update),
    ];
    let class = all.outside(
        "networking.k8s.io/v1",
        "IngressClass",
        &json!({"spec": {"controller": "example.com/a"}}),
    );
    rows.push(row(&class, "/spec/controller", &json!("example.com/b"), Want::Recreate(&["spec.controller"])));
    let slice = json!({"addressType": "IPv4", "endpoints": [], "ports": []});
    let slice = all.inside("discovery.k8s.io/v1", "EndpointSlice", &slice);
    rows.push(row(&slice, "/addressType", &json!("IPv6"), Want::Recreate(&["addressType"])));
    let mut budget = |pointer: &str, value: Value| {
        let body = json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}});
        row(&all.inside("policy/v1", "PodDisruptionBudget", &body), pointer, &value, Want::Update)
    };
    rows.push(budget("/spec/selector/matchLabels/app", json!("web")));
    let other = json!({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "db"}}});
    rows.push(budget("/spec", other));
    check(&all.bed, rows).await;
}

/// Two or no versions in store, a conversion without a webhook: no field of the live object is in the way of that.
#[tokio::test]
async fn definitions_that_are_wrong_under_any_circumstances_are_invalid() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    bed.leftovers.push(("customresourcedefinition".into(), format!("foos.{group}")));
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    let definition = |versions: Value, conversion: Value| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("foos.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                "conversion": conversion, "versions": versions}})
    };
    let none = || json!({"strategy": "None"});
    let good = definition(json!([version("v1", true)]), none());
    bed.deliver(&[("shop", std::slice::from_ref(&good))]).await;
    for (bad, field) in [
        (definition(json!([version("v1", true), version("v2", true)]), none()), "spec.versions"),
        (definition(json!([version("v1", false)]), none()), "spec.versions"),
        (definition(json!([version("v1", true)]), json!({"strategy": "Webhook"})), "spec.conversion"),
    ] {
        bed.check(&[bad], &[&["update CustomResourceDefinition", "problem invalid", field]]).await;
    }
    let mut renamed = good;
    renamed["spec"]["names"]["kind"] = json!("Bar");
    bed.check(
        &[renamed],
        &[
            &["recreate CustomResourceDefinition", "problem immutable: spec.names.kind"],
            &["refused definition-identity"],
        ],
    )
    .await;
}
