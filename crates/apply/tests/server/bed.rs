//! A namespace of its own on the shared API server, and what applying needs there.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_apply::{Applied, ApplyError, Context, Pruned, apply, prune};
pub(crate) use windlass_bed::kubeconfig;
use windlass_cluster::{ApplyRequest, Cluster, Expect, Propagation};
use windlass_model::{
    ApplySet, EnvironmentName, Event, Object, ObjectRef, Operation, Rendering, Sink, UnitName,
};

use crate::plan::{approve, plan};

/// One environment in one namespace, which is the record namespace as well.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) environment: EnvironmentName,
    pub(crate) namespace: String,
    pub(crate) sink: Recorder,
    pub(crate) stop: CancellationToken,
}

impl Bed {
    pub(crate) async fn up() -> Self {
        Self::over(connect(kubeconfig()).await).await
    }

    pub(crate) async fn over(cluster: Cluster) -> Self {
        let suffix = format!("{:08x}", rand::random::<u32>());
        let namespace = format!("apply-{suffix}");
        let bed = Self {
            cluster,
            environment: EnvironmentName::new(&format!("e{suffix}")).unwrap(),
            namespace,
            sink: Recorder::default(),
            stop: CancellationToken::new(),
        };
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bed.namespace, "labels": {"test": "apply"}}});
        bed.put(&object(body)).await;
        bed
    }

    pub(crate) async fn down(self) {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        self.delete(object(body).reference()).await;
    }

    /// Returns a ConfigMap of this bed.
    pub(crate) fn map(&self, name: &str, value: &str) -> Object {
        object(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": self.namespace}, "data": {"k": value}}),
        )
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            cluster: &self.cluster,
            sink: &self.sink,
            stop: self.stop.clone(),
            version: "0.0.0",
            environment: &self.environment,
            record_namespace: &self.namespace,
            concurrency: 1,
            backend_limit: Duration::from_secs(30),
        }
    }

    /// Plans and applies.
    pub(crate) async fn apply(&self, rendering: &Rendering) -> Result<Applied, ApplyError> {
        let approved = approve(plan(self, rendering).await);
        apply(&approved, rendering, &self.context()).await
    }

    /// Plans, applies and prunes.
    pub(crate) async fn run(&self, rendering: &Rendering) -> Result<Pruned, ApplyError> {
        let approved = approve(plan(self, rendering).await);
        let applied = apply(&approved, rendering, &self.context()).await?;
        prune(&applied, &approved, rendering, &self.context()).await
    }

    pub(crate) fn set(&self, unit: &str) -> ApplySet {
        ApplySet::empty(self.environment.clone(), UnitName::new(unit).unwrap(), &self.namespace)
    }

    /// Returns the members of a unit's set, as its parent says, without their namespace; `None` if there is no parent.
    pub(crate) async fn members(&self, unit: &str) -> Option<Vec<String>> {
        let parent = self.get(&self.set(unit).parent()).await?;
        let members = ApplySet::read(&parent).unwrap().members;
        let namespace = format!(".{}", self.namespace);
        Some(members.iter().map(|entry| entry.trim_end_matches(&namespace).to_owned()).collect())
    }

    pub(crate) async fn get(&self, reference: &ObjectRef) -> Option<Object> {
        self.cluster.get(reference).await.unwrap()
    }

    pub(crate) async fn put(&self, object: &Object) -> Object {
        let request = ApplyRequest { object, expect: Expect::Anything, force: true, dry_run: false };
        self.cluster.apply(request).await.unwrap().object
    }

    pub(crate) async fn delete(&self, reference: &ObjectRef) {
        let resource = self.cluster.resource_of(reference).await.unwrap();
        while let Some(live) = self.get(reference).await {
            if self.cluster.delete(&resource, &live, Propagation::Background, false).await.is_ok() {
                return;
            }
        }
    }

    /// Changes a live object as someone else.
    pub(crate) async fn edit(&self, reference: &ObjectRef, operations: Value) {
        let live = self.get(reference).await.unwrap();
        self.cluster.patch(&live, &operations, false).await.unwrap();
    }
}

pub(crate) fn object(body: Value) -> Object {
    Object::new(body, None).unwrap()
}

pub(crate) async fn connect(kubeconfig: PathBuf) -> Cluster {
    windlass_bed::connect(&kubeconfig, "windlass-apply-tests", windlass_bed::SOON).await
}

type Hook = Box<dyn Fn(&Event) + Send + Sync>;

/// Keeps all events, and lets a test act on them.
#[derive(Default)]
pub(crate) struct Recorder {
    events: Mutex<Vec<Event>>,
    hook: Mutex<Option<Hook>>,
}

impl Recorder {
    /// Returns the writes since the last call, as `verb name`.
    pub(crate) fn writes(&self) -> Vec<String> {
        let events = std::mem::take(&mut *self.events.lock().unwrap());
        let write = |event| match event {
            Event::Sending { mutation } => Some(format!("{} {}", mutation.verb, mutation.object.name)),
            _ => None,
        };
        events.into_iter().filter_map(write).collect()
    }

    /// Calls `hook` before each write of an object with this name.
    pub(crate) fn before(&self, name: &'static str, hook: impl Fn() + Send + Sync + 'static) {
        let on_event = move |event: &Event| {
            if matches!(event, Event::Sending { mutation } if mutation.object.name == name) {
                hook();
            }
        };
        *self.hook.lock().unwrap() = Some(Box::new(on_event));
    }

    pub(crate) fn text(&self) -> String {
        format!("{:?}", self.events.lock().unwrap())
    }
}

impl Sink for Recorder {
    fn emit(&self, event: Event) {
        if let Some(hook) = &*self.hook.lock().unwrap() {
            hook(&event);
        }
        self.events.lock().unwrap().push(event);
    }
}

/// Asserts that a plan has these numbers of operations.
pub(crate) fn counts(plan: &windlass_model::Plan, want: &[(Operation, usize)]) {
    for (operation, count) in want {
        assert_eq!(plan.counts().of(*operation), *count, "{}", operation.word());
    }
}
