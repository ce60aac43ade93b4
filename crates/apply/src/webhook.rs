//! Waiting until the Services that webhooks call can answer.

use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::Silence;
use windlass_model::{Event, Level, Object, ObjectRef, webhook_backends};

use crate::Context;
use crate::failure::{Halt, Unwritten};

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
            let silence = context.cluster.silence(&backend).await;
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
