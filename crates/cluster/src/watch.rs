//! Watching a collection.

use futures::{Stream, StreamExt as _};
use http::Request;
use kube::core::WatchEvent;
use serde::Deserialize;
use windlass_model::{Content, Object};

use crate::transport::named;
use crate::{Cluster, ClusterError, Failure, Resource, Selector, path};

/// Something that happened in a watched collection.
#[derive(Debug, Clone)]
pub enum WatchItem {
    /// An object appeared or changed.
    Changed(Object),
    /// An object went.
    Deleted(Object),
    /// The server kept the connection alive; the collection has this version.
    Bookmark(String),
    /// The version is too old to go on from: list again.
    Expired,
}

/// A watched object as it is, without a guess at its type.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
struct Raw(Content);

impl Cluster {
    /// Watches a collection from a version on. The stream ends when the server closes it, about every five
    /// minutes; the caller watches again from the last version it saw.
    pub async fn watch(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
        resource_version: &str,
    ) -> Result<impl Stream<Item = Result<WatchItem, ClusterError>> + Send + use<>, ClusterError> {
        let mut parameters = vec![
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", "290"),
            ("resourceVersion", resource_version),
        ];
        parameters.extend(selector.labels.map(|labels| ("labelSelector", labels)));
        parameters.extend(selector.fields.map(|fields| ("fieldSelector", fields)));
        let base = path::collection(resource, selector.namespace);
        let what = format!("WATCH {base}");
        let request = Request::get(path::with_query(&base, &parameters))
            .body(Vec::new())
            .map_err(|error| ClusterError::Answer { what: what.clone(), reason: error.to_string() })?;
        let transport = self.transport.clone();
        let events = transport
            .client()
            .request_events::<Raw>(request)
            .await
            .map_err(|error| watch_error(&transport, &what, error))?;
        Ok(events
            .map(move |event| match event {
                Ok(event) => item(event, &what),
                Err(error) => Err(watch_error(&transport, &what, error)),
            })
            .boxed())
    }
}

fn item(event: WatchEvent<Raw>, what: &str) -> Result<WatchItem, ClusterError> {
    match event {
        WatchEvent::Added(Raw(object)) | WatchEvent::Modified(Raw(object)) => {
            named(object, what).map(WatchItem::Changed)
        }
        WatchEvent::Deleted(Raw(object)) => named(object, what).map(WatchItem::Deleted),
        WatchEvent::Bookmark(bookmark) => Ok(WatchItem::Bookmark(bookmark.metadata.resource_version)),
        WatchEvent::Error(status) if status.code == 410 => Ok(WatchItem::Expired),
        WatchEvent::Error(status) => {
            let failure = Failure {
                code: status.code,
                reason: status.reason.clone(),
                message: status.message.clone(),
                subject: String::new(),
                causes: Vec::new(),
                retry_after: None,
                plain: false,
            };
            Err(ClusterError::Api { what: what.to_owned(), failure: Box::new(failure) })
        }
    }
}

fn watch_error(transport: &crate::transport::Transport, what: &str, error: kube::Error) -> ClusterError {
    match error {
        kube::Error::Api(status) => {
            let body =
                serde_json::json!({"kind": "Status", "reason": status.reason, "message": status.message})
                    .to_string();
            let failure = Failure::parse(status.code, body.as_bytes(), None);
            ClusterError::Api { what: what.to_owned(), failure: Box::new(failure) }
        }
        error => transport.unreachable(&error),
    }
}
