//! What the server's answers depend on beside the request and the live object: who asks, and how the cluster is set up.
//!
//! Kubernetes 1.36's admission was gone through plugin by plugin. An update that changes nothing is judged by webhooks,
//! policies, the namespace's labels and, for claims, the limit ranges. Quotas count only growth. What cannot be known
//! is not remembered: pods (most plugins are about them), kinds of other API servers, conversion by webhook, and
//! whatever a webhook is asked about.

mod admission;
mod age;
mod definitions;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use windlass_cluster::{Cluster, ClusterError, Resource, Selector};
use windlass_model::{ClusterId, Digest, GroupKind, Object};

use super::catalog::Catalog;
use super::places::Places;
use super::{Reader, tolerate};
use crate::ObjectKey;
use crate::memory::{Matcher, SETTLING, Subject};
use age::{latest_change, timestamp};

/// The configuration of a cluster as one identity meets it.
pub(super) struct Scope {
    /// Of everything that is the same for all objects.
    pub(super) digest: Digest,
    /// Who asks.
    pub(super) user: String,
    /// Whether nothing changed so recently that parts of the server may not act on it yet.
    pub(super) settled: bool,
    places: BTreeMap<String, Object>,
    /// The custom kinds whose objects are judged by their definition alone, with the definition's identity.
    definitions: BTreeMap<GroupKind, String>,
    /// Webhooks and policies whose judgement cannot be foreseen.
    judges: Vec<Matcher>,
}

/// Groups that the API server itself serves (`k8s.io/api` 0.36).
const BUILT_IN: [&str; 18] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

impl Scope {
    /// Reads the configuration, or says what stands in the way of knowing it.
    pub(super) async fn read(
        reader: &Reader<'_>,
        cluster: &ClusterId,
        catalog: &Catalog,
        places: &Places,
    ) -> Result<Result<Self, String>, ClusterError> {
        let Some(places) = places.known() else {
            return Ok(Err("the namespaces cannot be listed".to_owned()));
        };
        let scope = Self::of(reader, cluster, catalog, places).await;
        Ok(tolerate(scope)?.map_err(|error| error.to_string()))
    }

    async fn of(
        reader: &Reader<'_>,
        cluster: &ClusterId,
        catalog: &Catalog,
        places: &BTreeMap<String, Object>,
    ) -> Result<Self, ClusterError> {
        let connection = reader.cluster;
        let limits = list(connection, "", "LimitRange");
        let (review, rights, servers, admission, limits, definitions) = futures::try_join!(
            connection.review(),
            connection.rights("default"),
            servers(connection),
            admission::read(reader),
            limits,
            definitions::read(reader, catalog),
        )?;
        let places: BTreeMap<String, Object> = places.clone();
        let user = identity(&review.user);
        let mut rights: Vec<String> = rights.iter().map(Value::to_string).collect();
        rights.sort();
        let digest = Digest::of_json(&json!({
            "tool": env!("CARGO_PKG_VERSION"),
            "cluster": cluster.uid,
            "version": cluster.version,
            "servers": servers,
            "user": user,
            "rights": rights,
            "admission": admission.identities,
            "limits": limits.iter().map(version_of).collect::<Vec<_>>(),
        }));
        let configured = limits.iter().chain(places.values()).filter_map(latest_change);
        let latest = configured.chain(admission.latest).chain(definitions.latest).max();
        Ok(Self {
            digest,
            user: user["username"].as_str().unwrap_or_default().to_owned(),
            settled: has_settled(review.time.as_deref().and_then(timestamp), latest),
            places,
            definitions: definitions.pure,
            judges: admission.judges,
        })
    }

    /// Returns what the answer about an update depends on beside the request, the object and the scope's digest, or
    /// `None` if that cannot be known.
    pub(super) fn of_object(
        &self,
        key: &ObjectKey,
        resource: &Resource,
        desired: &Object,
        live: &Object,
    ) -> Option<String> {
        let place = match &key.namespace {
            Some(namespace) => Some(self.places.get(namespace)?),
            None => None,
        };
        let definition = match self.definitions.get(&key.kind) {
            Some(definition) => definition.as_str(),
            None if BUILT_IN.contains(&key.kind.group.as_str()) && !key.kind.is("", "Pod") => "",
            None => return None,
        };
        let labels = [labels(live), labels(desired)];
        let namespace = match place {
            Some(place) => vec![self::labels(place)],
            None if key.kind.is("", "Namespace") => labels.to_vec(),
            None => Vec::new(),
        };
        let subject = Subject { resource, labels, namespace };
        if self.judges.iter().any(|judge| judge.concerns(&subject)) {
            return None;
        }
        let place = place.map(version_of).unwrap_or_default();
        Some(format!("{definition}\n{place}"))
    }
}

/// Says whether the last change is long enough ago, by the server's own clock. Without its time nobody knows.
fn has_settled(now: Option<Timestamp>, latest: Option<Timestamp>) -> bool {
    match (now, latest) {
        (Some(now), Some(latest)) => now.duration_since(latest) >= SETTLING,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Returns what admission can decide by; what names the credential changes with every token.
fn identity(user: &Value) -> Value {
    let mut user = user.clone();
    if let Some(extra) = user.get_mut("extra").and_then(Value::as_object_mut) {
        extra.retain(|key, _| !key.starts_with("authentication.kubernetes.io/"));
    }
    user
}

/// Returns the running API servers. A server that was started again, perhaps with other flags, has another name
/// (`APIServerIdentity`, KEP-1965).
async fn servers(cluster: &Cluster) -> Result<Vec<String>, ClusterError> {
    let leases = cluster.resource(&GroupKind::new("coordination.k8s.io", "Lease"), "v1").await?;
    let labels = Some("apiserver.kubernetes.io/identity=kube-apiserver");
    let selector = Selector { namespace: Some("kube-system"), labels, fields: None };
    let leases = cluster.list(&leases, selector).await?.objects;
    let holder = |lease: &Object| lease.body().pointer("/spec/holderIdentity")?.as_str().map(str::to_owned);
    let mut servers: Vec<String> = leases.iter().filter_map(holder).collect();
    servers.sort();
    Ok(servers)
}

/// Lists the metadata of a kind in the version that the server prefers; a kind that it does not serve has no objects.
async fn list(cluster: &Cluster, group: &str, kind: &str) -> Result<Vec<Object>, ClusterError> {
    let kind = GroupKind::new(group, kind);
    if cluster.is_namespaced(&kind).await?.is_none() {
        return Ok(Vec::new());
    }
    let resource = cluster.preferred(&kind).await?;
    Ok(cluster.list_metadata(&resource, Selector::default()).await?.objects)
}

/// Names an object in one version of it.
fn version_of(object: &Object) -> String {
    let version = object.resource_version().unwrap_or_default();
    format!("{} {} {version}", object.reference(), object.uid().unwrap_or_default())
}

fn labels(object: &Object) -> Option<&Value> {
    object.body().pointer("/metadata/labels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_settles_by_the_servers_clock() {
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        for (now, latest, want) in [
            (at(100), at(95), true),
            (at(100), at(96), false),
            (at(100), at(200), false),
            (at(100), None, true),
            (None, at(1), false),
        ] {
            assert_eq!(has_settled(now, latest), want, "{now:?} {latest:?}");
        }
    }

    #[test]
    fn another_token_is_the_same_user() {
        let user = |token: &str| {
            identity(&json!({"username": "a", "groups": ["g"],
                "extra": {"authentication.kubernetes.io/credential-id": [token], "team": ["x"]}}))
        };
        assert_eq!(user("1"), user("2"));
        assert_eq!(user("1")["extra"], json!({"team": ["x"]}));
    }
}
