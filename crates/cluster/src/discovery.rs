//! Which kinds the server serves, learned in two requests (aggregated discovery, KEP-3352). What is known is asked about
//! again by the tag that the server gave it, so that nothing is sent twice.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use windlass_model::{GroupKind, ObjectRef};

use crate::transport::Call;
use crate::{Cluster, ClusterError};

/// How one kind is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Group and kind.
    pub kind: GroupKind,
    /// The version.
    pub version: String,
    /// The name in URLs, such as `statefulsets`.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What can be done with it: `list`, `watch`, `patch`, `delete`…
    pub verbs: Vec<String>,
}

impl Resource {
    /// Returns `group/version`, or `version` for the core group.
    pub fn api_version(&self) -> String {
        if self.kind.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.kind.group, self.version)
        }
    }

    /// Says whether the kind can be listed and its objects deleted, as pruning needs.
    pub fn is_prunable(&self) -> bool {
        ["list", "delete"].iter().all(|verb| self.verbs.iter().any(|known| known == verb))
    }
}

/// What the server serves, at one moment.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// The core group, and all others.
    parts: [Arc<Part>; 2],
}

/// What one of the two lists says.
#[derive(Debug, Default)]
struct Part {
    /// By which the server knows this list again.
    tag: Option<String>,
    /// By kind, in the server's order of preference.
    kinds: HashMap<GroupKind, Vec<Resource>>,
    /// Groups whose API service does not answer: what they hold is unknown, not absent.
    stale: BTreeSet<String>,
}

/// What was learned last, and whether it is to be asked about again before it is used.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    known: Option<Arc<Discovery>>,
    doubtful: bool,
}

impl Learned {
    fn usable(&self) -> Option<&Arc<Discovery>> {
        self.known.as_ref().filter(|_| !self.doubtful)
    }
}

const LISTS: [&str; 2] = ["/api", "/apis"];

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Cluster {
    /// Returns how a kind is served in a version.
    ///
    /// # Errors
    /// [`ClusterError::UnknownKind`] if it is not, even after asking the server again.
    pub async fn resource(&self, kind: &GroupKind, version: &str) -> Result<Resource, ClusterError> {
        self.find(kind, version, |resource| resource.version == version).await
    }

    /// Returns how a kind is served in the version that the server prefers.
    pub async fn preferred(&self, kind: &GroupKind) -> Result<Resource, ClusterError> {
        self.find(kind, "any", |_| true).await
    }

    /// Returns how a kind is served in a version or, where that is not served any more, in the one that the server
    /// prefers: its objects are the same.
    pub(crate) async fn served(&self, kind: &GroupKind, version: &str) -> Result<Resource, ClusterError> {
        match self.resource(kind, version).await {
            Err(ClusterError::UnknownKind { stale: false, .. }) => self.preferred(kind).await,
            found => found,
        }
    }

    /// Returns how the kind of an object is served.
    pub async fn resource_of(&self, object: &ObjectRef) -> Result<Resource, ClusterError> {
        self.resource(&object.kind, &object.version).await
    }

    /// Returns whether objects of a kind live in namespaces, or `None` if the server does not know the kind.
    pub async fn is_namespaced(&self, kind: &GroupKind) -> Result<Option<bool>, ClusterError> {
        let discovery = self.discovered().await?;
        Ok(discovery.of(kind).first().map(|resource| resource.namespaced))
    }

    /// Returns the kinds that the server knows, with whether their objects live in namespaces.
    pub async fn scopes(&self) -> Result<HashMap<GroupKind, bool>, ClusterError> {
        let discovery = self.discovered().await?;
        let scope = |(kind, resources): (&GroupKind, &Vec<Resource>)| {
            Some((kind.clone(), resources.first()?.namespaced))
        };
        Ok(discovery.parts.iter().flat_map(|part| &part.kinds).filter_map(scope).collect())
    }

    /// Returns the groups whose API service does not answer. A list of kinds is not complete while there
    /// is one, and nothing may be concluded from an object's absence.
    pub async fn stale_groups(&self) -> Result<BTreeSet<String>, ClusterError> {
        Ok(self.discovered().await?.parts.iter().flat_map(|part| &part.stale).cloned().collect())
    }

    /// Has what the server serves asked about again, for instance after a definition was applied.
    pub async fn forget_discovery(&self) {
        self.discovery.write().await.doubtful = true;
    }

    async fn find(
        &self,
        kind: &GroupKind,
        version: &str,
        wanted: impl Fn(&Resource) -> bool,
    ) -> Result<Resource, ClusterError> {
        for attempt in 0..2 {
            let discovery = self.discovered().await?;
            if let Some(found) = discovery.of(kind).iter().find(|resource| wanted(resource)) {
                return Ok(found.clone());
            }
            if attempt == 1 {
                let stale = discovery.parts.iter().any(|part| part.stale.contains(&kind.group));
                return Err(ClusterError::UnknownKind {
                    kind: kind.clone(),
                    version: version.to_owned(),
                    stale,
                });
            }
            self.forget_exactly(&discovery).await;
        }
        Err(ClusterError::UnknownKind { kind: kind.clone(), version: version.to_owned(), stale: false })
    }

    /// Doubts `seen`, unless another caller has learned something newer meanwhile: many objects of a missing kind must
    /// not cost a discovery each.
    async fn forget_exactly(&self, seen: &Arc<Discovery>) {
        let mut learned = self.discovery.write().await;
        if learned.known.as_ref().is_some_and(|current| Arc::ptr_eq(current, seen)) {
            learned.doubtful = true;
        }
    }

    async fn discovered(&self) -> Result<Arc<Discovery>, ClusterError> {
        if let Some(known) = self.discovery.read().await.usable() {
            return Ok(known.clone());
        }
        let mut learned = self.discovery.write().await;
        if let Some(known) = learned.usable() {
            return Ok(known.clone());
        }
        let before = learned.known.clone().unwrap_or_default();
        let [core, groups] = &before.parts;
        let parts = [self.part(LISTS[0], core).await?, self.part(LISTS[1], groups).await?];
        let discovery = Arc::new(Discovery { parts });
        *learned = Learned { known: Some(discovery.clone()), doubtful: false };
        Ok(discovery)
    }

    /// Reads one list, unless it still is what is known of it.
    async fn part(&self, url: &str, known: &Arc<Part>) -> Result<Arc<Part>, ClusterError> {
        let call = Call { accept: AGGREGATED, known: known.tag.clone(), ..Call::get(url.to_owned()) };
        let reply = self.transport.call(&call).await?;
        if reply.status == StatusCode::NOT_MODIFIED {
            return Ok(known.clone());
        }
        let list = reply.json(&call.what())?;
        if list["kind"] != "APIGroupDiscoveryList" {
            let reason =
                "the server does not support aggregated discovery: Windlass needs Kubernetes 1.33 or newer"
                    .to_owned();
            return Err(ClusterError::Answer { what: call.what(), reason });
        }
        Ok(Arc::new(Part::read(&list, reply.tag)))
    }
}

impl Discovery {
    /// Returns how a kind is served, in the server's order of preference.
    fn of(&self, kind: &GroupKind) -> &[Resource] {
        self.parts.iter().find_map(|part| part.kinds.get(kind)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Part {
    fn read(list: &Value, tag: Option<String>) -> Self {
        let mut part = Self { tag, ..Self::default() };
        for group in items(&list["items"]) {
            let group_name = text(&group["metadata"]["name"]);
            for version in items(&group["versions"]) {
                if version["freshness"] == "Stale" {
                    part.stale.insert(group_name.clone());
                }
                for resource in items(&version["resources"]) {
                    part.add(&group_name, &text(&version["version"]), resource);
                }
            }
        }
        part
    }

    fn add(&mut self, group: &str, version: &str, resource: &Value) {
        let response = &resource["responseKind"];
        // Some kinds answer with a kind of another group, such as Scale; the collection's own group counts.
        let kind = GroupKind::new(group, &text(&response["kind"]));
        let resource = Resource {
            kind: kind.clone(),
            version: version.to_owned(),
            plural: text(&resource["resource"]),
            namespaced: resource["scope"] == "Namespaced",
            verbs: items(&resource["verbs"]).iter().map(text).collect(),
        };
        self.kinds.entry(kind).or_default().push(resource);
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_group_that_does_not_answer_is_not_an_empty_group() {
        let list = json!({"items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
                {"resource": "statefulsets", "responseKind": {"kind": "StatefulSet"}, "scope": "Namespaced", "verbs": ["list", "delete"]}]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]},
        ]});
        let part = Part::read(&list, None);
        let kind = GroupKind::new("apps", "StatefulSet");
        assert!(part.kinds[&kind][0].is_prunable() && part.kinds[&kind][0].namespaced);
        assert_eq!(part.stale, BTreeSet::from(["metrics.k8s.io".to_owned()]));
    }
}
