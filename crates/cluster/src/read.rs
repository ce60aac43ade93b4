//! Reading objects.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_model::{ClusterId, GroupKind, Object, ObjectRef};

use crate::page::Pages;
use crate::transport::Call;
use crate::{Cluster, ClusterError, FailureKind, Resource, path};

/// Which objects of a collection are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selector<'a> {
    /// One namespace; `None` for all.
    pub namespace: Option<&'a str>,
    /// A label selector.
    pub labels: Option<&'a str>,
    /// A field selector.
    pub fields: Option<&'a str>,
}

/// The objects of a collection.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The objects.
    pub objects: Vec<Object>,
    /// The version of the collection, from which a watch goes on.
    pub resource_version: String,
}

/// Which part of a container's log is wanted.
#[derive(Debug, Clone, Copy)]
pub struct LogOptions<'a> {
    /// The container.
    pub container: &'a str,
    /// Whether the container's previous run is wanted.
    pub previous: bool,
    /// How many lines from the end.
    pub tail: u32,
}

/// Objects a page: large enough to cost few requests, small enough to hold one page as text.
const PAGE: &str = "500";
/// How often a list is begun.
const ATTEMPTS: u32 = 3;
/// How much of a log is read: a container may write lines of any length.
const LOG_BYTES: &str = "65536";
const JSON: &str = "application/json";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

impl Cluster {
    /// Returns the cluster's identity: the uid of `kube-system`, the server's address and version.
    pub async fn identity(&self) -> Result<ClusterId, ClusterError> {
        let namespace = Call::get("/api/v1/namespaces/kube-system".to_owned());
        let namespace = self.transport.call(&namespace).await?.json(&namespace.what())?;
        let version = Call::get("/version".to_owned());
        let version = self.transport.call(&version).await?.json(&version.what())?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(ClusterId {
            uid: text(&namespace["metadata"]["uid"]),
            server: self.transport.server().to_owned(),
            version: text(&version["gitVersion"]),
        })
    }

    /// Returns the objects of a collection, read page by page.
    pub async fn list(&self, resource: &Resource, selector: Selector<'_>) -> Result<Listing, ClusterError> {
        self.pages(resource, selector, JSON, |_| true).await
    }

    /// Returns those objects of a collection that are wanted. Of the others, no more than a page is ever held.
    pub async fn list_only(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
        wanted: impl Fn(&ObjectRef) -> bool,
    ) -> Result<Listing, ClusterError> {
        self.pages(resource, selector, JSON, wanted).await
    }

    /// Returns the objects of a collection with their metadata alone.
    pub async fn list_metadata(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
    ) -> Result<Listing, ClusterError> {
        self.pages(resource, selector, METADATA, |_| true).await
    }

    /// Returns those objects of a collection that are wanted, with their metadata alone.
    pub async fn list_metadata_only(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
        wanted: impl Fn(&ObjectRef) -> bool,
    ) -> Result<Listing, ClusterError> {
        self.pages(resource, selector, METADATA, wanted).await
    }

    /// Returns some object of a kind, wherever it is, or `None` if there is none.
    pub async fn first(&self, resource: &Resource) -> Result<Option<ObjectRef>, ClusterError> {
        let url = path::with_query(&path::collection(resource, None), &[("limit", "1")]);
        let call = Call { accept: METADATA, ..Call::get(url) };
        let reply = self.transport.call(&call).await?;
        let mut pages = Pages::of(resource, |_: &ObjectRef| true);
        pages.read(&reply.body).map_err(|error| unusable(&call, &error))?;
        Ok(pages.objects.first().map(|object| object.reference().clone()))
    }

    /// Returns a part of one object, or `None` if there is no such object. What the type leaves out is not kept.
    pub async fn get_part<T: DeserializeOwned>(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<T>, ClusterError> {
        let call = Call::get(path::object(resource, namespace, name));
        let reply = match self.transport.call(&call).await {
            Ok(reply) => reply,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        reply.read(&call.what()).map(Some)
    }

    /// Reads a collection to its end, from the beginning again where the server has forgotten how to go on: it does so
    /// after some minutes.
    async fn pages(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
        accept: &'static str,
        wanted: impl Fn(&ObjectRef) -> bool,
    ) -> Result<Listing, ClusterError> {
        let mut attempt = 1;
        loop {
            match self.pages_once(resource, selector, accept, &wanted).await {
                Err(error) if error.is_expired() && attempt < ATTEMPTS => attempt += 1,
                listed => return listed,
            }
        }
    }

    async fn pages_once(
        &self,
        resource: &Resource,
        selector: Selector<'_>,
        accept: &'static str,
        wanted: impl Fn(&ObjectRef) -> bool,
    ) -> Result<Listing, ClusterError> {
        let base = path::collection(resource, selector.namespace);
        let mut pages = Pages::of(resource, wanted);
        let mut next = String::new();
        loop {
            let call = Call { accept, ..Call::get(page_url(&base, &selector, &next)) };
            let reply = self.transport.call(&call).await?;
            let page = pages.read(&reply.body).map_err(|error| unusable(&call, &error))?;
            if page.next.is_empty() {
                return Ok(Listing { objects: pages.objects, resource_version: page.resource_version });
            }
            next = page.next;
        }
    }

    /// Returns the events about an object, oldest first.
    pub async fn events(&self, object: &ObjectRef) -> Result<Vec<Object>, ClusterError> {
        let resource = self.resource(&GroupKind::new("", "Event"), "v1").await?;
        let fields = format!("involvedObject.kind={},involvedObject.name={}", object.kind.kind, object.name);
        // Events about cluster-scoped objects are kept in `default`.
        let namespace = object.namespace.as_deref().unwrap_or("default");
        let selector = Selector { namespace: Some(namespace), fields: Some(&fields), labels: None };
        let mut events = self.list(&resource, selector).await?.objects;
        let last_seen = |event: &Object| {
            let stamp =
                |field: &str| event.body().get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (last, micro) = (stamp("lastTimestamp"), stamp("eventTime"));
            if last.is_empty() { micro } else { last }
        };
        events.sort_by_key(last_seen);
        Ok(events)
    }

    /// Returns the end of a container's log.
    pub async fn logs(
        &self,
        namespace: &str,
        pod: &str,
        options: LogOptions<'_>,
    ) -> Result<String, ClusterError> {
        let pods = self.resource(&GroupKind::new("", "Pod"), "v1").await?;
        let tail = options.tail.to_string();
        let parameters = [
            ("container", options.container),
            ("tailLines", &tail),
            ("limitBytes", LOG_BYTES),
            ("previous", if options.previous { "true" } else { "false" }),
        ];
        let url =
            path::with_query(&format!("{}/log", path::object(&pods, Some(namespace), pod)), &parameters);
        let call = Call { accept: "*/*", ..Call::get(url) };
        let reply = self.transport.call(&call).await?;
        Ok(String::from_utf8_lossy(&reply.body).into_owned())
    }

    /// Returns once the server says that it is ready, or the last error when the time is over.
    pub async fn wait_ready(&self, limit: Duration) -> Result<(), ClusterError> {
        let ready = async {
            loop {
                let call = Call { accept: "*/*", ..Call::get("/readyz".to_owned()) };
                match self.transport.call(&call).await {
                    Ok(_) => return,
                    Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
                }
            }
        };
        let late = || ClusterError::Timeout { what: "GET /readyz".to_owned(), seconds: limit.as_secs() };
        tokio::time::timeout(limit, ready).await.map_err(|_| late())
    }
}

fn unusable(call: &Call, error: &serde_json::Error) -> ClusterError {
    ClusterError::Answer { what: call.what(), reason: error.to_string() }
}

fn page_url(base: &str, selector: &Selector<'_>, next: &str) -> String {
    let mut parameters = vec![("limit", PAGE)];
    parameters.extend(selector.labels.map(|labels| ("labelSelector", labels)));
    parameters.extend(selector.fields.map(|fields| ("fieldSelector", fields)));
    if !next.is_empty() {
        parameters.push(("continue", next));
    }
    path::with_query(base, &parameters)
}

/// Says whether a failed GET means that there is no such object.
pub(crate) fn is_absence(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| {
        matches!(failure.kind(), FailureKind::NotFound | FailureKind::NamespaceMissing)
    })
}
