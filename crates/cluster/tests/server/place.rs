//! A namespace of a test's own, and what is refused there.

use std::time::Duration;

use serde_json::Value;
use windlass_cluster::{Cluster, Expect, FailureKind};
use windlass_model::Object;

use crate::bed::{apply, cluster, namespace, object, remove};

/// A namespace of a test's own.
pub(crate) struct Place {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: Object,
}

impl Place {
    pub(crate) async fn new(name: &str) -> Self {
        let cluster = cluster().await;
        Self { namespace: namespace(&cluster, name).await, cluster }
    }

    pub(crate) fn name(&self) -> &str {
        &self.namespace.reference().name
    }

    pub(crate) fn inside(&self, api_version: &str, kind: &str, body: Value) -> Object {
        let mut body = body;
        body["apiVersion"] = api_version.into();
        body["kind"] = kind.into();
        body["metadata"]["name"] = "a".into();
        body["metadata"]["namespace"] = self.name().into();
        object(body)
    }

    /// Sends a creation as a dry-run and for real, and expects one failure of this meaning and these words.
    pub(crate) async fn refused(&self, object: &Object, want: &FailureKind, words: &str) {
        for dry_run in [true, false] {
            let error = apply(&self.cluster, object, Expect::Absent, dry_run).await.unwrap_err();
            let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
            assert_eq!(failure.kind(), *want, "{failure} {failure:?} dry {dry_run}");
            assert!(failure.to_string().contains(words), "{failure} lacks {words}");
        }
    }

    /// Waits until something denies what is created here in these words: admission learns of it a moment later.
    pub(crate) async fn until_denied(&self, object: &Object, words: &str) {
        for _ in 0..100 {
            let answer = apply(&self.cluster, object, Expect::Absent, true).await;
            if answer.is_err_and(|error| error.to_string().contains(words)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("nothing denies {}", object.reference());
    }

    pub(crate) async fn down(self) {
        remove(&self.cluster, &self.namespace).await;
    }
}
