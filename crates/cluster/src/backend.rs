//! Whether the Services that webhooks call can answer.

use serde_json::Value;
use windlass_model::{GroupKind, Object, ObjectRef};

use crate::{Cluster, ClusterError, Selector};

/// What keeps a Service from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// There is no such Service.
    #[error("does not exist")]
    Missing,
    /// No pod behind it takes requests.
    #[error("has no ready endpoint")]
    Unready,
}

impl Cluster {
    /// Returns what keeps a Service from answering; `None` if nothing does, and for the type `ExternalName`, whose
    /// endpoints are elsewhere.
    ///
    /// # Errors
    /// The Service or its EndpointSlices cannot be read.
    pub async fn silence(&self, service: &ObjectRef) -> Result<Option<Silence>, ClusterError> {
        let Some(found) = self.get(service).await? else { return Ok(Some(Silence::Missing)) };
        if found.body().pointer("/spec/type").is_some_and(|kind| kind == "ExternalName") {
            return Ok(None);
        }
        let slices = self.resource(&GroupKind::new("discovery.k8s.io", "EndpointSlice"), "v1").await?;
        let labels = format!("kubernetes.io/service-name={}", service.name);
        let selector =
            Selector { namespace: service.namespace.as_deref(), labels: Some(&labels), fields: None };
        let slices = self.list(&slices, selector).await?;
        Ok((!slices.objects.iter().any(has_ready_endpoint)).then_some(Silence::Unready))
    }
}

/// Says whether a slice has an endpoint that is ready; without a word on it, it is (`discovery.k8s.io/v1`).
fn has_ready_endpoint(slice: &Object) -> bool {
    let endpoints = slice.body().get("endpoints").and_then(Value::as_array);
    endpoints.into_iter().flatten().any(|endpoint| endpoint["conditions"]["ready"] != false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_endpoint_is_ready_unless_it_says_otherwise() {
        let check = |endpoints: Value, want| {
            let body = json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "s", "namespace": "a"},
                "endpoints": endpoints,
            });
            assert_eq!(has_ready_endpoint(&Object::new(body, None).unwrap()), want);
        };
        check(Value::Null, false);
        check(json!([]), false);
        check(json!([{"addresses": ["10.0.0.1"]}]), true);
        check(json!([{"addresses": ["10.0.0.1"], "conditions": {"ready": false, "serving": true}}]), false);
        check(json!([{"conditions": {"ready": false}}, {"conditions": {"ready": true}}]), true);
    }
}
