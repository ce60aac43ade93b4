//! A namespace of its own on the shared testbed.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Mutex;

use futures::FutureExt as _;
use serde_json::{Value, json};
use windlass_bed::kubeconfig;
use windlass_cluster::{ApplyRequest, Cluster, ClusterError, Expect, Propagation};
use windlass_model::{Event, Object, ObjectRef, Sink};

/// A namespace and what else a test made.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: String,
    /// Cluster-scoped objects to remove in the end.
    made: Mutex<Vec<ObjectRef>>,
}

/// Returns the certificate of the authority that signs what the bed's load balancers present.
pub(crate) fn authority() -> Vec<u8> {
    std::fs::read(kubeconfig().with_file_name("pki").join("ca.crt")).unwrap()
}

async fn connect(kubeconfig: &Path) -> Cluster {
    windlass_bed::connect(kubeconfig, "windlass-rollout-test", windlass_bed::SOON).await
}

/// Returns the verb of each request made as a user so far, with the code of its answer.
pub(crate) fn requests(user: &str) -> Vec<(String, i64)> {
    let log = std::fs::read_to_string(kubeconfig().with_file_name("audit.log")).unwrap();
    let ours = log.lines().filter(|line| line.contains(user));
    let events = ours.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let made = events.filter(|event| event["impersonatedUser"]["username"] == user);
    let request = |event: Value| {
        let verb = event["verb"].as_str().unwrap_or_default().to_owned();
        (verb, event["responseStatus"]["code"].as_i64().unwrap_or_default())
    };
    made.map(request).collect()
}

/// Runs a test in a namespace of its own and cleans up, however the test ends.
pub(crate) async fn with_bed<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce(std::sync::Arc<Bed>) -> F,
) {
    let cluster = connect(&kubeconfig()).await;
    let random = RandomState::new().hash_one(name) % 1_000_000;
    let namespace = format!("{name}-{random:06}");
    let bed = std::sync::Arc::new(Bed { cluster, namespace: namespace.clone(), made: Mutex::default() });
    bed.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
    let result = AssertUnwindSafe(test(bed.clone())).catch_unwind().await;
    let made = std::mem::take(&mut *bed.made.lock().unwrap());
    for object in made.into_iter().rev() {
        bed.delete(&object).await;
    }
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// Returns symptoms, given without their prefix, as annotations.
pub(crate) fn symptoms(symptoms: &Value) -> serde_json::Map<String, Value> {
    let annotation = |(key, value): (&String, &Value)| (format!("testbed.windlass.dev/{key}"), value.clone());
    symptoms.as_object().unwrap().iter().map(annotation).collect()
}

impl Bed {
    /// Returns a connection as another user, who holds whatever rights are bound to that name.
    pub(crate) async fn connect_as(&self, user: &str) -> Cluster {
        let config = std::fs::read_to_string(kubeconfig()).unwrap();
        let (before, after) = config.split_once("  user:\n").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubeconfig");
        std::fs::write(&file, format!("{before}  user:\n    as: {user}\n{after}")).unwrap();
        connect(&file).await
    }

    /// Returns a name that no other test uses, for cluster-scoped objects.
    pub(crate) fn own(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// Applies an object and returns it as it is then.
    pub(crate) async fn apply(&self, body: Value) -> Object {
        let live = self.try_apply(body).await.unwrap();
        if live.reference().namespace.is_none() {
            self.made.lock().unwrap().push(live.reference().clone());
        }
        live
    }

    /// Applies an object, if the server takes it.
    pub(crate) async fn try_apply(&self, body: Value) -> Result<Object, ClusterError> {
        let object = Object::new(body, None).unwrap();
        let request = ApplyRequest { object: &object, expect: Expect::Anything, force: true, dry_run: false };
        Ok(self.cluster.apply(request).await?.object)
    }

    pub(crate) async fn delete(&self, object: &ObjectRef) {
        let resource = self.cluster.resource_of(object).await.unwrap();
        // Controllers write to what is to be deleted.
        for _ in 0..5 {
            let Some(live) = self.cluster.get(object).await.unwrap() else { return };
            if self.cluster.delete(&resource, &live, Propagation::Background, false).await.is_ok() {
                return;
            }
        }
    }

    /// Returns a reference to an object of the namespace.
    pub(crate) fn reference(&self, kind: &str, name: &str) -> ObjectRef {
        let body = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": self.namespace}});
        Object::new(body, None).unwrap().reference().clone()
    }

    /// Makes a workload with a pod template; `annotations` are symptoms, without their prefix.
    #[expect(clippy::needless_pass_by_value, reason = "callers read better without references")]
    pub(crate) fn workload(&self, kind: &str, name: &str, annotations: &Value, spec: Value) -> Value {
        let annotations = symptoms(annotations);
        let mut template = json!({
            "metadata": {"labels": {"app": name}, "annotations": annotations},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "r/web:1"}]},
        });
        let mut body = json!({
            "apiVersion": if kind == "Job" { "batch/v1" } else { "apps/v1" },
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        });
        if kind == "Job" {
            template["spec"]["restartPolicy"] = json!("Never");
        } else {
            body["spec"]["selector"] = json!({"matchLabels": {"app": name}});
        }
        if kind == "StatefulSet" {
            body["spec"]["serviceName"] = json!(name);
        }
        body["spec"]["template"] = template;
        body
    }

    /// Makes a claim template for `spec.volumeClaimTemplates`.
    pub(crate) fn claim_template(name: &str, class: &str) -> Value {
        json!([{"metadata": {"name": name}, "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}])
    }
}

/// Keeps events.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Vec<Event>>);

impl Kept {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }
}

impl Sink for Kept {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}
