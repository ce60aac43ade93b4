//! Which kinds the server serves, learned in two requests (aggregated discovery, KEP-3352).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

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
    /// By kind, in the server's order of preference.
    kinds: HashMap<GroupKind, Vec<Resource>>,
    /// Groups whose API service does not answer: what they hold is unknown, not absent.
    stale: BTreeSet<String>,
}

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

    /// Returns how the kind of an object is served.
    pub async fn resource_of(&self, object: &ObjectRef) -> Result<Resource, ClusterError> {
        self.resource(&object.kind, &object.version).await
    }

    /// Returns whether objects of a kind live in namespaces, or `None` if the server does not know the kind.
    pub async fn is_namespaced(&self, kind: &GroupKind) -> Result<Option<bool>, ClusterError> {
        let discovery = self.discovered().await?;
        Ok(discovery
            .kinds
            .get(kind)
            .and_then(|resources| resources.first())
            .map(|resource| resource.namespaced))
    }

    /// Returns the kinds that the server knows, with whether their objects live in namespaces.
    pub async fn scopes(&self) -> Result<HashMap<GroupKind, bool>, ClusterError> {
        let discovery = self.discovered().await?;
        let scope = |(kind, resources): (&GroupKind, &Vec<Resource>)| {
            Some((kind.clone(), resources.first()?.namespaced))
        };
        Ok(discovery.kinds.iter().filter_map(scope).collect())
    }

    /// Returns the groups whose API service does not answer. A list of kinds is not complete while there
    /// is one, and nothing may be concluded from an object's absence.
    pub async fn stale_groups(&self) -> Result<BTreeSet<String>, ClusterError> {
        Ok(self.discovered().await?.stale.clone())
    }

    /// Forgets what the server serves, for instance after a definition was applied.
    pub async fn forget_discovery(&self) {
        *self.discovery.write().await = None;
    }

    async fn find(
        &self,
        kind: &GroupKind,
        version: &str,
        wanted: impl Fn(&Resource) -> bool,
    ) -> Result<Resource, ClusterError> {
        for attempt in 0..2 {
            let discovery = self.discovered().await?;
            if let Some(found) =
                discovery.kinds.get(kind).and_then(|resources| resources.iter().find(|r| wanted(r)))
            {
                return Ok(found.clone());
            }
            if attempt == 1 {
                let stale = discovery.stale.contains(&kind.group);
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

    /// Forgets `seen`, unless another caller has learned something newer meanwhile: many objects of a
    /// missing kind must not cost a discovery each.
    async fn forget_exactly(&self, seen: &Arc<Discovery>) {
        let mut slot = self.discovery.write().await;
        if slot.as_ref().is_some_and(|current| Arc::ptr_eq(current, seen)) {
            *slot = None;
        }
    }

    async fn discovered(&self) -> Result<Arc<Discovery>, ClusterError> {
        if let Some(known) = &*self.discovery.read().await {
            return Ok(known.clone());
        }
        let mut slot = self.discovery.write().await;
        if let Some(known) = &*slot {
            return Ok(known.clone());
        }
        let mut discovery = Discovery::default();
        for url in ["/api", "/apis"] {
            let call = Call { accept: AGGREGATED, ..Call::get(url.to_owned()) };
            let answer = self.transport.call(&call).await?.json(&call.what())?;
            if answer["kind"] != "APIGroupDiscoveryList" {
                let reason = "the server does not support aggregated discovery: Windlass needs Kubernetes 1.33 or newer".to_owned();
                return Err(ClusterError::Answer { what: call.what(), reason });
            }
            discovery.take(&answer);
        }
        let discovery = Arc::new(discovery);
        *slot = Some(discovery.clone());
        Ok(discovery)
    }
}

impl Discovery {
    fn take(&mut self, list: &Value) {
        for group in items(&list["items"]) {
            let group_name = text(&group["metadata"]["name"]);
            for version in items(&group["versions"]) {
                if version["freshness"] == "Stale" {
                    self.stale.insert(group_name.clone());
                }
                for resource in items(&version["resources"]) {
                    self.add(&group_name, &text(&version["version"]), resource);
                }
            }
        }
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
        let mut discovery = Discovery::default();
        discovery.take(&json!({"items": [
            {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "freshness": "Current", "resources": [
                {"resource": "statefulsets", "responseKind": {"kind": "StatefulSet"}, "scope": "Namespaced", "verbs": ["list", "delete"]}]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]},
        ]}));
        let kind = GroupKind::new("apps", "StatefulSet");
        assert!(discovery.kinds[&kind][0].is_prunable() && discovery.kinds[&kind][0].namespaced);
        assert_eq!(discovery.stale, BTreeSet::from(["metrics.k8s.io".to_owned()]));
    }
}
