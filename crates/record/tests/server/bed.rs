//! A namespace of its own on the shared API server.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
pub(crate) use windlass_bed::kubeconfig;
use windlass_cluster::{ApplyRequest, Cluster, Expect, Propagation};
use windlass_model::{Clock, EnvironmentName, Object, RunId};
use windlass_record::{Holder, Store};

pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) store: Store,
    namespace: Object,
}

impl Bed {
    pub(crate) async fn up() -> Self {
        Self::over(connect(&kubeconfig()).await).await
    }

    async fn over(cluster: Cluster) -> Self {
        let name = format!("record-{:08x}", rand::random::<u32>());
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"test": "record"}}});
        let namespace = Object::new(body, None).unwrap();
        let request =
            ApplyRequest { object: &namespace, expect: Expect::Absent, force: false, dry_run: false };
        let namespace = cluster.apply(request).await.unwrap().object;
        let store = Store::new(cluster.clone(), &name, EnvironmentName::new("prd").unwrap());
        Self { cluster, store, namespace }
    }

    pub(crate) async fn down(self) {
        let resource = self.cluster.resource_of(self.namespace.reference()).await.unwrap();
        let live = self.cluster.get(self.namespace.reference()).await.unwrap().unwrap();
        self.cluster.delete(&resource, &live, Propagation::Background, false).await.unwrap();
    }
}

pub(crate) async fn connect(kubeconfig: &Path) -> Cluster {
    windlass_bed::connect(kubeconfig, "windlass-record-tests", windlass_bed::SOON).await
}

#[expect(clippy::disallowed_methods, reason = "tests have no one to be given the time by")]
pub(crate) fn clock() -> Clock {
    Clock::new(Timestamp::now)
}

/// A clock that is an hour behind.
#[expect(clippy::disallowed_methods, reason = "tests have no one to be given the time by")]
pub(crate) fn late_clock() -> Clock {
    Clock::new(|| Timestamp::now() - Duration::from_hours(1))
}

pub(crate) fn holder(run: &str) -> Holder {
    let run = RunId::parse(run).unwrap();
    Holder { run, actor: "jo".into(), host: "agent-1".into(), pid: 7, commit: None }
}

/// Waits until something is so; the tests that hang here fail by it.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, condition: impl Fn() -> F) {
    for _ in 0..600 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}");
}
