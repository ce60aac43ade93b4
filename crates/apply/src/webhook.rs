//! Waiting until the Services that webhooks call can answer.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{Event, GroupKind, Level, Object, ObjectRef, webhook_backends};

use crate::Context;
use crate::failure::{Halt, Unwritten};

/// What keeps a Service from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Silence {
    #[error("does not exist")]
    Missing,
    #[error("has no ready endpoint")]
    Unready,
}

/// Waits, before a webhook configuration is written, until each Service that it names has a ready endpoint.
///
/// From then on the API server asks the webhook about other objects. With `failurePolicy: Fail` and nobody there to
/// answer, it would refuse them all, among them the pods that are to answer. The wait ends after
/// [`Context::backend_limit`]. Webhooks that name a URL are none of our concern, and neither are Services of the type
/// `ExternalName`.
pub(crate) async fn can_answer(object: &Object, context: &Context<'_>) -> Result<(), Halt> {
    let end = Instant::now() + context.backend_limit;
    for backend in webhook_backends(object) {
        let mut told = false;
        loop {
            let silence = silence(&backend, context).await;
            let Some(silence) = silence.map_err(|error| Unwritten::of(object.reference(), &error, false))?
            else {
                break;
            };
            if Instant::now() >= end {
                return Err(unanswered(object, &backend, silence, context).into());
            }
            if !told {
                let text = waiting(object, &backend, silence);
                context.sink.emit(Event::Message { level: Level::Info, text });
                told = true;
            }
            context.pause_or_stop(Duration::from_millis(250)).await?;
        }
    }
    Ok(())
}

/// Returns what keeps a Service from answering, if anything does.
async fn silence(backend: &ObjectRef, context: &Context<'_>) -> Result<Option<Silence>, ClusterError> {
    let Some(service) = context.cluster.get(backend).await? else { return Ok(Some(Silence::Missing)) };
    if service.body().pointer("/spec/type").is_some_and(|kind| kind == "ExternalName") {
        return Ok(None);
    }
    let slices = context.cluster.resource(&GroupKind::new("discovery.k8s.io", "EndpointSlice"), "v1").await?;
    let labels = format!("kubernetes.io/service-name={}", backend.name);
    let selector = Selector { namespace: backend.namespace.as_deref(), labels: Some(&labels), fields: None };
    let slices = context.cluster.list(&slices, selector).await?;
    Ok((!slices.objects.iter().any(has_ready_endpoint)).then_some(Silence::Unready))
}

/// Says whether a slice has an endpoint that is ready; without a word on it, it is (`discovery.k8s.io/v1`).
fn has_ready_endpoint(slice: &Object) -> bool {
    let endpoints = slice.body().get("endpoints").and_then(Value::as_array);
    endpoints.into_iter().flatten().any(|endpoint| endpoint["conditions"]["ready"] != false)
}

fn waiting(object: &Object, backend: &ObjectRef, silence: Silence) -> String {
    format!("{} waits: {backend}, which it calls, {silence}", object.reference())
}

fn unanswered(object: &Object, backend: &ObjectRef, silence: Silence, context: &Context<'_>) -> Unwritten {
    let message = format!(
        "was not written: {backend}, which it calls, {silence} after {} s; the API server would ask it and get no answer",
        context.backend_limit.as_secs()
    );
    let hint = format!(
        "deliver the Service and its pods in this unit or an earlier one, and see why they are not ready: kubectl get pods,endpointslices -n {}",
        backend.namespace.as_deref().unwrap_or_default()
    );
    Unwritten::because(object.reference(), message, &hint)
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
