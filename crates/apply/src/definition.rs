//! Waiting until a definition that was just written is in force.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use windlass_cluster::ClusterError;
use windlass_model::{Object, condition, condition_is, defined_kind};

use crate::Context;
use crate::failure::{Halt, Unwritten};

const LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(100);

/// Waits until definitions are established and discovery shows all versions that they serve, at most 60 s.
///
/// The two come in no fixed order (measured on 1.36), and even then another replica of the API server may not
/// serve a kind yet: whoever writes its objects tries again for a while.
pub(crate) async fn in_force(definitions: &[Object], context: &Context<'_>) -> Result<(), Halt> {
    if definitions.is_empty() {
        return Ok(());
    }
    let end = Instant::now() + LIMIT;
    for definition in definitions {
        wait_established(definition, end, context).await?;
    }
    context.cluster.forget_discovery().await;
    for definition in definitions {
        while let Err(error) = all_served(definition, context).await {
            wait(definition, end, &error.to_string(), context).await?;
        }
    }
    Ok(())
}

async fn wait_established(definition: &Object, end: Instant, context: &Context<'_>) -> Result<(), Halt> {
    let reference = definition.reference();
    loop {
        let last = match context.cluster.get(reference).await {
            Ok(Some(live)) => match established(&live) {
                Ok(true) => return Ok(()),
                Ok(false) => "it is not established".to_owned(),
                Err(reason) => {
                    let hint = "rename the kind, or remove the definition that has its names";
                    return Err(Unwritten::because(reference, reason, hint).into());
                }
            },
            Ok(None) => {
                let message = "was deleted since it was applied".to_owned();
                let hint = "find out who deletes it, then run again";
                return Err(Unwritten::because(reference, message, hint).into());
            }
            Err(error) => error.to_string(),
        };
        wait(definition, end, &last, context).await?;
    }
}

async fn wait(definition: &Object, end: Instant, last: &str, context: &Context<'_>) -> Result<(), Halt> {
    if Instant::now() >= end {
        let message = format!("not in force after {} s: {last}", LIMIT.as_secs());
        let hint = "look at the conditions in the definition's status";
        return Err(Unwritten::because(definition.reference(), message, hint).into());
    }
    if context.pause(POLL).await { Ok(()) } else { Err(Halt::Stopped) }
}

async fn all_served(definition: &Object, context: &Context<'_>) -> Result<(), ClusterError> {
    let Some(kind) = defined_kind(definition) else { return Ok(()) };
    for version in served_versions(definition) {
        context.cluster.resource(&kind, version).await?;
    }
    Ok(())
}

pub(crate) fn served_versions(definition: &Object) -> impl Iterator<Item = &str> {
    let versions = definition.body().pointer("/spec/versions").and_then(Value::as_array);
    versions
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true)
        .filter_map(|v| v["name"].as_str())
}

/// Says whether the server has taken a live definition's kind up.
pub(crate) fn is_established(live: &Object) -> bool {
    condition_is(live.body(), "Established", "True")
}

/// Says whether a live definition is established, or why it never will be.
fn established(live: &Object) -> Result<bool, String> {
    if is_established(live) {
        return Ok(true);
    }
    match condition(live.body(), "NamesAccepted") {
        Some(condition) if condition["status"] == "False" => {
            Err(format!("its names are not accepted: {}", condition["message"].as_str().unwrap_or_default()))
        }
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(conditions: &Value) -> Object {
        let body = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.x.dev"},
            "spec": {"group": "x.dev", "names": {"kind": "A"}, "versions": [
                {"name": "v1", "served": true}, {"name": "v0", "served": false}, {"name": "v2", "served": true},
            ]},
            "status": {"conditions": conditions},
        });
        Object::new(body, None).unwrap()
    }

    #[test]
    fn conditions_are_read() {
        let check = |conditions: Value, want: Result<bool, &str>| {
            assert_eq!(
                established(&definition(&conditions)).as_ref().map_err(String::as_str),
                want.as_ref().map_err(|e| *e)
            );
        };
        check(json!([]), Ok(false));
        check(json!([{"type": "Established", "status": "True"}]), Ok(true));
        check(
            json!([{"type": "Established", "status": "False"}, {"type": "NamesAccepted", "status": "True"}]),
            Ok(false),
        );
        check(
            json!([{"type": "Established", "status": "False"}, {"type": "NamesAccepted", "status": "False", "message": "taken"}]),
            Err("its names are not accepted: taken"),
        );
    }

    #[test]
    fn served_versions_are_told_from_stored_ones() {
        let definition = definition(&json!([]));
        assert!(served_versions(&definition).eq(["v1", "v2"]));
    }
}
