//! A control plane of a test's own, and plans made there with and without memory.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
pub(crate) use windlass_bed::variable;
use windlass_bed::{Says, Webhook, rendering};
use windlass_cluster::{ApplyRequest, Cluster, Expect};
use windlass_model::{ClusterId, Object, Provenance};
use windlass_plan::{FieldRules, Inputs, Memory, ObserveOptions, Remembering, Trials, observe, plan};
use windlass_settings::Guards;

const AGENT: &str = "windlass-memory-test";
/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "memory";

pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    /// What the cluster says of itself.
    pub(crate) cluster_id: ClusterId,
    pub(crate) memory: Memory,
    /// A webhook that takes everything; the cluster is not configured to ask it.
    pub(crate) hook: Webhook,
    folder: PathBuf,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

/// A plan as it is written, without the time, and how many of its answers were remembered.
pub(crate) struct Planned {
    pub(crate) plan: Value,
    pub(crate) reused: usize,
    pub(crate) settled: bool,
    pub(crate) unusable: Option<String>,
}

/// One control plane at a time.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Runs the testbed's own program.
fn testbed(arguments: &[&str], folder: &Path) -> Result<(), String> {
    let program = variable("WINDLASS_TEST_TESTBED").expect("start these tests through `make test`");
    let output =
        Command::new(program).args(&arguments[..1]).arg(folder).args(&arguments[1..]).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

impl Bed {
    /// Starts a control plane with the namespace and a memory that is empty.
    pub(crate) async fn up() -> Self {
        let turn = TURN.lock().await;
        let folder = std::env::temp_dir().join(format!("windlass-memory-{:08x}", rand::random::<u32>()));
        let pid = std::process::id().to_string();
        testbed(&["up", "--watch-pid", &pid], &folder).unwrap();
        let cluster = connect(&folder.join("kubeconfig")).await;
        let cluster_id = cluster.identity().await.unwrap();
        let hook = Webhook::start(&folder.join("kubeconfig"), |_| Says::yes());
        let memory = Memory::empty([7; 16]);
        let bed = Self { cluster, cluster_id, memory, hook, folder, _turn: turn };
        bed.kubectl(&["create", "namespace", NAMESPACE], "").unwrap();
        bed
    }

    /// Starts one where the custom kind of the objects is defined; returns it with the objects, which are delivered.
    pub(crate) async fn with_objects() -> (Self, Vec<Value>) {
        let bed = Self::up().await;
        bed.configure(&definition(true, None));
        bed.kubectl(&["wait", "--for=condition=Established", "crd/widgets.memory.example"], "").unwrap();
        bed.cluster.forget_discovery().await;
        let desired = objects();
        bed.deliver(&desired).await;
        (bed, desired)
    }

    /// Runs kubectl; the error is what it printed.
    pub(crate) fn kubectl(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        windlass_bed::kubectl(&self.folder.join("kubeconfig"), arguments, input)
    }

    /// Returns a connection of somebody who may read and patch ConfigMaps and list namespaces, and nothing else.
    pub(crate) async fn as_somebody_else(&self) -> Cluster {
        let kubectl = |arguments: &[&str]| self.kubectl(arguments, "").unwrap();
        kubectl(&["-n", NAMESPACE, "create", "serviceaccount", "other"]);
        let (verbs, kinds) = ("--verb=get,list,patch,create", "--resource=configmaps,namespaces");
        kubectl(&["create", "clusterrole", "other", verbs, kinds]);
        let account = format!("--serviceaccount={NAMESPACE}:other");
        kubectl(&["create", "clusterrolebinding", "other", "--clusterrole=other", &account]);
        let token = kubectl(&["-n", NAMESPACE, "create", "token", "other"]);
        let view = kubectl(&["config", "view", "--raw", "--minify", "-o", "json"]);
        let mut config: Value = serde_json::from_str(&view).unwrap();
        config["users"][0]["user"] = json!({"token": token.trim()});
        let path = self.folder.join("other.kubeconfig");
        std::fs::write(&path, config.to_string()).unwrap();
        connect(&path).await
    }

    /// Applies manifests as somebody else.
    pub(crate) fn configure(&self, manifest: &Value) {
        let arguments = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        self.kubectl(&arguments, &manifest.to_string()).unwrap();
    }

    /// Applies objects as Windlass does; what is refused stays as it was.
    pub(crate) async fn deliver(&self, objects: &[Value]) {
        for body in objects {
            let object = Object::new(body.clone(), None).unwrap();
            let request =
                ApplyRequest { object: &object, expect: Expect::Anything, force: true, dry_run: false };
            drop(self.cluster.apply(request).await);
        }
    }

    /// Plans with the memory, and keeps what is learned.
    pub(crate) async fn plan_remembering(&mut self, objects: &[Value]) -> Planned {
        let memory = self.memory.clone();
        let remembering = Remembering { memory: &memory, cluster: &self.cluster_id, now: now() };
        let (planned, later) = self.plan(objects, Some(remembering)).await;
        if let Some(later) = later {
            // As a run does: through bytes.
            self.memory = Memory::parse(&later.to_bytes()).unwrap();
        }
        planned
    }

    /// Plans by asking the server for everything.
    pub(crate) async fn plan_asking(&self, objects: &[Value]) -> Planned {
        self.plan(objects, None).await.0
    }

    async fn plan(
        &self,
        objects: &[Value],
        remembering: Option<Remembering<'_>>,
    ) -> (Planned, Option<Memory>) {
        let rendering = rendering(&[("shop", objects)]);
        let options = ObserveOptions {
            concurrency: 8,
            remembering,
            rules: &FieldRules::default(),
            stand_in: "default",
            trials: Trials::Each,
        };
        let observation = observe(&self.cluster, None, "", &rendering, &options).await.unwrap();
        let inputs = Inputs {
            environment: None,
            cluster_id: self.cluster_id.clone(),
            source: Provenance::Unsigned { what: "test".into(), commit: None, author: None },
            rendering: &rendering,
            policies: None,
            rollback: None,
            guards: &Guards::default(),
            deletions: &[],
            fields: &FieldRules::default(),
            record_namespace: "",
            tool: "windlass 0.1.0",
            now: "2026-06-15T12:00:00Z".parse().unwrap(),
        };
        let plan = plan(inputs, &observation).to_json();
        let recollection = observation.recollection;
        let planned = Planned {
            plan,
            reused: recollection.reused,
            settled: recollection.settled,
            unusable: recollection.unusable,
        };
        (planned, recollection.memory)
    }

    /// Plans until everything is remembered that can be: the configuration must have been there for some seconds.
    /// Returns how many answers that are.
    pub(crate) async fn learn(&mut self, objects: &[Value]) -> usize {
        for _ in 0..60 {
            if self.plan_remembering(objects).await.settled {
                return self.plan_remembering(objects).await.reused;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        panic!("the configuration never came to rest");
    }

    /// Returns the end of the audit log.
    pub(crate) fn mark(&self) -> u64 {
        self.folder.join("audit.log").metadata().unwrap().len()
    }

    /// Counts what plans asked since the mark: requests, and dry-runs among them.
    pub(crate) fn asked_since(&self, mark: u64) -> (usize, usize) {
        let mut file = std::fs::File::open(self.folder.join("audit.log")).unwrap();
        file.seek(SeekFrom::Start(mark)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let ours = || text.lines().filter(|line| line.contains(AGENT));
        (ours().count(), ours().filter(|line| line.contains("dryRun=All")).count())
    }
}

#[expect(clippy::disallowed_methods, reason = "answers grow old by the real clock")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

async fn connect(kubeconfig: &Path) -> Cluster {
    windlass_bed::connect(kubeconfig, AGENT, windlass_bed::SOON).await
}

impl Drop for Bed {
    fn drop(&mut self) {
        testbed(&["down"], &self.folder).ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// The definition of the custom kind, with the field `colour` or without, and with a default of its field `size` if one
/// is wanted.
pub(crate) fn definition(colour: bool, default: Option<u32>) -> Value {
    let mut properties = json!({"size": {"type": "integer"}});
    if colour {
        properties["colour"] = json!({"type": "string"});
    }
    if let Some(default) = default {
        properties["size"]["default"] = default.into();
    }
    let spec = json!({"type": "object", "properties": properties});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.memory.example"},
        "spec": {"group": "memory.example", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec}}}}]}})
}

/// One object of many kinds.
pub(crate) fn objects() -> Vec<Value> {
    let meta = |name: &str| json!({"name": name, "namespace": NAMESPACE, "labels": {"of": "test"}});
    let template = json!({"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [
        {"name": "db", "image": "registry.example/db:1", "resources": {"requests": {"cpu": "1000m"}}}]}});
    let config = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name), "data": {"k": "1"}});
    vec![
        config("a"),
        config("b"),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": meta("s"), "stringData": {"k": "hunter2"}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta("sa")}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("db"),
            "spec": {"selector": {"app": "db"}, "ports": [{"name": "sql", "port": 5432}]}}),
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("backup"),
            "spec": {"storageClassName": "none", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta("r"),
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta("deny"),
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web"),
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "db"}}, "template": template.clone()}}),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db"),
            "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
                "template": template}}),
        json!({"apiVersion": "memory.example/v1", "kind": "Widget", "metadata": meta("w"),
            "spec": {"colour": "blue"}}),
    ]
}
