//! What is delivered: two versions of one unit, and what somebody else leaves in the cluster before each.

use serde_json::{Value, json};
use windlass_e2e::{Files, World, manifests};

const RETAIN: &str = include_str!("../../../../pipeline/rbac/optional/retain-volumes.yaml");

/// The names of the two versions. What exists in one of them only has its version's name in its own.
pub(super) const NAMES: [&str; 2] = ["a", "b"];

/// Grants the rights that this repository needs, permits its deletions, and makes a class whose volumes are there at
/// once and go with their claims.
pub(super) fn allow(world: &mut World) {
    let suffix = world.suffix.clone();
    world.kubectl.apply(RETAIN);
    world.kubectl.apply(&rights(&suffix));
    world.kubectl.apply(&format!(
        "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: at-once-{suffix}}}, provisioner: kubernetes.io/host-path}}"
    ));
    for object in ["clusterrole/e2e", "clusterrolebinding/e2e", "storageclass/at-once"] {
        world.owns(&format!("{object}-{suffix}"));
    }
    let mut permissions = Vec::new();
    for version in NAMES {
        world.owns(&format!("customresourcedefinition/widgets.{}", group(world, version)));
        world.owns(&format!("validatingwebhookconfiguration/hook-{version}-{suffix}"));
        permissions.extend(deletions(world, version));
    }
    world.configure(|settings| {
        settings["guards"]["retainVolumes"] = json!(true);
        settings["guards"]["allowDeletions"] = json!(permissions);
    });
}

/// The dated permissions without which what one version holds would stay.
fn deletions(world: &World, version: &str) -> Vec<Value> {
    let (app, group) = (world.namespace("app"), group(world, version));
    let permission = |kind: &str, namespace: Option<&str>, name: &str| {
        let mut permission = json!({"kind": kind, "name": name, "until": "2099-12-31", "reason": "the other version has none"});
        if let Some(namespace) = namespace {
            permission["namespace"] = json!(namespace);
        }
        permission
    };
    vec![
        permission("PersistentVolumeClaim", Some(&app), &format!("data-{version}")),
        permission(&format!("Widget.{group}"), Some(&app), &format!("widget-{version}")),
        permission("CustomResourceDefinition.apiextensions.k8s.io", None, &format!("widgets.{group}")),
    ]
}

/// Two versions of one unit of more than sixty objects. Between them objects of every sort are created, changed,
/// deleted, adopted, moved to another unit and left alone.
pub(super) fn version(world: &World, name: &str) -> Files {
    let namespace = world.namespace("app");
    let units = manifests::units(&[("base", "base", ""), ("app", "app", "base"), ("side", "side", "app")]);
    let mut files = Files::new()
        .with("windlass.yaml", units)
        .with("base/namespace.yaml", manifests::namespace(&namespace))
        .with("side/side.yaml", manifests::config_map(&namespace, "side", &[]));
    let map = |name: &str, value: &str| manifests::config_map(&namespace, name, &[("value", value)]);
    for number in 0..12 {
        files = files.with(&format!("app/same-{number}.yaml"), map(&format!("same-{number}"), "same"));
    }
    for number in 0..14 {
        files = files.with(&format!("app/other-{number}.yaml"), map(&format!("other-{number}"), name));
    }
    for number in 0..14 {
        files = files.with(&format!("app/only-{number}.yaml"), map(&format!("only-{name}-{number}"), "only"));
    }
    for number in 0..6 {
        let secret = manifests::secret(&namespace, &format!("secret-{number}"), &[("value", name)]);
        let service = manifests::headless(&namespace, &format!("service-{number}"));
        files = files
            .with(&format!("app/secret-{number}.yaml"), secret)
            .with(&format!("app/service-{number}.yaml"), service);
    }
    for word in ["hand", "adopted"] {
        files = files.with(&format!("app/{word}.yaml"), map(&format!("{word}-{name}"), name));
    }
    let unit = if name == "a" { "app" } else { "side" };
    files = files.with(&format!("{unit}/moves.yaml"), map("moves", "same"));
    with_data(world, name, files)
}

/// Adds what is more than a map of texts: a definition with an object of its kind, a claim, a workload that restarts,
/// and a webhook that its pods would answer.
fn with_data(world: &World, name: &str, files: Files) -> Files {
    let (namespace, suffix, group) = (world.namespace("app"), &world.suffix, group(world, name));
    let class = format!("at-once-{suffix}");
    let claim = manifests::claim(&namespace, &format!("data-{name}")).replace("windlass-e2e", &class);
    let db = manifests::Workload { version: name, ..manifests::Workload::db(&namespace, &[]) };
    files
        .with("app/definition.yaml", manifests::widgets(&group))
        .with("app/widget.yaml", manifests::widget(&group, &namespace, &format!("widget-{name}"), 3))
        .with("app/claim.yaml", claim)
        .with("app/db.yaml", manifests::stateful_set(&db))
        .with("app/db-service.yaml", manifests::headless(&namespace, "db"))
        .with("app/hook.yaml", webhook(&format!("hook-{name}-{suffix}"), &namespace, "db"))
}

/// Does what somebody does before a version is delivered: applies two of its objects in two ways.
pub(super) fn prepare(world: &World, version: &str) {
    let namespace = world.namespace("app");
    let by_hand = |word: &str, data: &[(&str, &str)]| {
        manifests::config_map(&namespace, &format!("{word}-{version}"), data)
    };
    let applied = by_hand("hand", &[("value", version), ("dropped", "by the migration")]);
    world.kubectl.feed(&["apply", "-f", "-"], &applied);
    let somebody = ["apply", "--server-side", "--field-manager=somebody", "-f", "-"];
    world.kubectl.feed(&somebody, &by_hand("adopted", &[("value", version)]));
}

/// Deletes the volumes that are left over, as somebody does who has looked at their data.
pub(super) fn clear(world: &World) {
    let volumes = world.kubectl.json(&["persistentvolumes"]);
    for volume in volumes["items"].as_array().into_iter().flatten() {
        let is_ours = volume["spec"]["claimRef"]["namespace"] == json!(world.namespace("app"));
        if is_ours && volume["status"]["phase"] == "Released" {
            world.kubectl.run(&["delete", "pv", volume["metadata"]["name"].as_str().unwrap()]);
        }
    }
}

fn group(world: &World, version: &str) -> String {
    format!("{version}-{}.example.dev", world.suffix)
}

/// Asks about a kind that nobody has, so that only its being written matters.
fn webhook(name: &str, namespace: &str, service: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks:
  - name: hook.example.dev
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    clientConfig: {{service: {{namespace: {namespace}, name: {service}, port: 5432}}}}
    rules:
      - {{apiGroups: [{name}.example.dev], apiVersions: [v1], operations: [CREATE], resources: [nothings]}}
"
    )
}

fn rights(suffix: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: e2e-{suffix}}}
rules:
  - apiGroups: [a-{suffix}.example.dev, b-{suffix}.example.dev]
    resources: [widgets]
    verbs: [get, list, watch, create, patch, delete]
  - apiGroups: [admissionregistration.k8s.io]
    resources: [validatingwebhookconfigurations]
    verbs: [create, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: e2e-{suffix}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-{suffix}}}
subjects:
  - {{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'windlass:run'}}
"
    )
}
