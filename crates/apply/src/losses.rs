//! What a deletion would destroy now, beside what the plan said.

use serde_json::Value;
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{
    Action, Claims, DestroyedVolume, GroupKind, Object, ObjectRef, deletes_claims, is_custom_kind,
};

use crate::Context;
use crate::failure::is_unanswered;

/// Returns why an object must stay: a volume would go with it that the plan did not name, since a claim was made or a
/// policy was changed after it. Looked for are claims by themselves, in namespaces, of StatefulSets, and those that a
/// custom resource owns, itself or through a StatefulSet. What the server does not tell counts as destroyed.
///
/// # Errors
/// The server gave no answer.
pub(crate) async fn reason(
    live: &Object,
    action: &Action,
    context: &Context<'_>,
) -> Result<Option<String>, ClusterError> {
    if action.uncounted {
        return Ok(None);
    }
    match unplanned(live, action, context).await {
        Ok(None) => Ok(None),
        Ok(Some(volume)) => Ok(Some(format!("it would destroy what the plan did not name: {volume}"))),
        Err(error) if is_unanswered(&error) => Err(error),
        Err(error) => Ok(Some(format!("what it takes along cannot be told: {error}"))),
    }
}

async fn unplanned(
    live: &Object,
    action: &Action,
    context: &Context<'_>,
) -> Result<Option<DestroyedVolume>, ClusterError> {
    for claim in claims_going(live, context).await? {
        let Some(volume) = DestroyedVolume::of(&claim) else { continue };
        if !action.destroys.contains(&volume) && !is_kept(&volume, context).await? {
            return Ok(Some(volume));
        }
    }
    Ok(None)
}

async fn claims_going(live: &Object, context: &Context<'_>) -> Result<Vec<Object>, ClusterError> {
    let reference = live.reference();
    let claims = GroupKind::new("", "PersistentVolumeClaim");
    let sets = GroupKind::new("apps", "StatefulSet");
    match &reference.namespace {
        None if reference.kind.is("", "Namespace") => list(&claims, &reference.name, context).await,
        Some(_) if reference.kind == claims => Ok(vec![live.clone()]),
        Some(namespace) if reference.kind == sets => {
            let found = list(&claims, namespace, context).await?;
            Ok(of_sets(found, &[live], live))
        }
        Some(namespace) if is_custom_kind(&reference.kind) => {
            let owned = list(&sets, namespace, context).await?;
            let owned: Vec<&Object> = owned.iter().filter(|set| is_owned_by(set, live)).collect();
            Ok(of_sets(list(&claims, namespace, context).await?, &owned, live))
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the claims that StatefulSets delete with themselves, and those that they or another object own.
fn of_sets(claims: Vec<Object>, sets: &[&Object], owner: &Object) -> Vec<Object> {
    let is_theirs =
        |claim: &&Object| is_owned_by(claim, owner) || sets.iter().any(|set| is_owned_by(claim, set));
    let mut going: Vec<Object> = claims.iter().filter(is_theirs).cloned().collect();
    let claims: Claims = claims.into_iter().collect();
    let deleting = sets.iter().filter(|set| deletes_claims(set));
    going.extend(deleting.flat_map(|set| claims.of_set(set)).cloned());
    going
}

fn is_owned_by(object: &Object, owner: &Object) -> bool {
    let owners = object.body().pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|reference| reference["uid"].as_str() == owner.uid())
}

async fn list(kind: &GroupKind, namespace: &str, context: &Context<'_>) -> Result<Vec<Object>, ClusterError> {
    let resource = context.cluster.preferred(kind).await?;
    let selector = Selector { namespace: Some(namespace), ..Selector::default() };
    Ok(context.cluster.list(&resource, selector).await?.objects)
}

/// Says whether a volume outlives its claim. One that is gone has nothing to lose.
async fn is_kept(volume: &DestroyedVolume, context: &Context<'_>) -> Result<bool, ClusterError> {
    let reference = ObjectRef {
        kind: GroupKind::new("", "PersistentVolume"),
        version: "v1".to_owned(),
        namespace: None,
        name: volume.name.clone(),
    };
    let live = context.cluster.get(&reference).await?;
    let policy = |live: Object| live.body()["spec"]["persistentVolumeReclaimPolicy"] == "Retain";
    Ok(live.is_none_or(policy))
}
