//! What lives in a namespace that is about to be deleted.

use std::collections::BTreeSet;

use windlass_cluster::ClusterError;
use windlass_model::{Action, ObjectRef};

use crate::Context;
use crate::applied::key;
use crate::failure::{Halt, Unwritten, is_unanswered};

/// How many names a reason lists.
const MANY: usize = 5;

/// Returns why an object must stay because of namespaces that go with it, itself among them: something in them can hold
/// data, and was not named by the plan. What the server does not tell counts as there.
///
/// # Errors
/// The server gave no answer.
pub(crate) async fn reason(action: &Action, context: &Context<'_>) -> Result<Option<String>, Halt> {
    for name in action.namespaces() {
        let reason = match residents(name, context).await {
            Ok(Ok(found)) => unplanned(&found, action),
            Ok(Err(reason)) => Some(untold(name, &reason)),
            Err(error) if is_unanswered(&error) => {
                return Err(Unwritten::of(&action.object, &error, false).into());
            }
            Err(error) => Some(untold(name, &error.to_string())),
        };
        if reason.is_some() {
            return Ok(reason);
        }
    }
    Ok(None)
}

/// Lists what is in a namespace, of the kinds that are served now. The inner error says why that is not all.
async fn residents(
    namespace: &str,
    context: &Context<'_>,
) -> Result<Result<Vec<ObjectRef>, String>, ClusterError> {
    context.cluster.forget_discovery().await;
    let stale = context.cluster.stale_groups().await?;
    if let Some(group) = stale.first() {
        return Ok(Err(format!("the API service of the group `{group}` does not answer")));
    }
    Ok(Ok(context.cluster.residents(namespace).await?))
}

fn untold(namespace: &str, reason: &str) -> String {
    format!("what is in the namespace `{namespace}` cannot be told: {reason}")
}

fn unplanned(found: &[ObjectRef], action: &Action) -> Option<String> {
    let known: BTreeSet<_> = action.takes.iter().map(key).collect();
    let new = found.iter().filter(|object| !known.contains(&key(object)));
    let new: Vec<String> = new.map(ToString::to_string).collect();
    let more = if new.len() > MANY { format!(" and {} more", new.len() - MANY) } else { String::new() };
    let named: Vec<&str> = new.iter().take(MANY).map(String::as_str).collect();
    (!new.is_empty()).then(|| {
        format!("it holds what the plan did not name, and what would go with it: {}{more}", named.join(", "))
    })
}
