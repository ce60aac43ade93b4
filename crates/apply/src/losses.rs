//! What a deletion would destroy now, beside what the plan said.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use windlass_cluster::{ClusterError, Home, Lineage};
use windlass_model::{
    Action, Claims, DestroyedVolume, GroupKind, Object, ObjectRef, claims_going, is_claim, is_namespace,
};

use crate::Context;
use crate::failure::is_unanswered;

/// How long what was read of a home serves for further deletions, at least: many objects that go together cost one look.
/// What took long to read serves for as long again.
const FRESH: Duration = Duration::from_secs(1);

/// What descends from what is to be deleted, read once a home and moment.
#[derive(Default)]
pub(crate) struct Losses {
    seen: BTreeMap<Home, Seen>,
}

struct Seen {
    until: Instant,
    lineage: Lineage,
    claims: Claims,
}

impl Losses {
    /// Returns why an object must stay: a volume would go with it that the plan did not name, since a claim was made or
    /// a policy was changed after it. Found as the plan finds them, over all generations. What the server does not
    /// tell counts as destroyed, unless just that was planned.
    ///
    /// # Errors
    /// The server gave no answer.
    pub(crate) async fn reason(
        &mut self,
        live: &Object,
        action: &Action,
        context: &Context<'_>,
    ) -> Result<Option<String>, ClusterError> {
        match self.unplanned(live, action, context).await {
            Ok(Unplanned::Nothing) => Ok(None),
            Ok(Unplanned::Loss(what)) => {
                Ok(Some(format!("it would destroy what the plan did not name: {what}")))
            }
            Err(error) if is_unanswered(&error) => Err(error),
            Ok(Unplanned::Untold(_)) | Err(_) if action.uncounted => Ok(None),
            Ok(Unplanned::Untold(reason)) => Ok(Some(untold(&reason))),
            Err(error) => Ok(Some(untold(&error.to_string()))),
        }
    }

    async fn unplanned(
        &mut self,
        live: &Object,
        action: &Action,
        context: &Context<'_>,
    ) -> Result<Unplanned, ClusterError> {
        let Some(home) = Home::of(live) else {
            return unplanned(&claims_going(live, &[], &Claims::default()), action, context).await;
        };
        let seen = self.look(home, live, context).await?;
        let descendants: Vec<&Object> = seen.lineage.descendants(live).collect();
        let named = |object: &ObjectRef| action.takes.iter().any(|taken| taken.key() == object.key());
        let mut namespaces =
            descendants.iter().map(|object| object.reference()).filter(|object| is_namespace(&object.kind));
        if let Some(namespace) = namespaces.find(|namespace| !named(namespace)) {
            return Ok(Unplanned::Loss(format!("everything in the namespace `{}`", namespace.name)));
        }
        let claims = claims_going(live, &descendants, &seen.claims);
        Ok(match unplanned(&claims, action, context).await? {
            Unplanned::Nothing => match seen.lineage.doubt(live) {
                Some(reason) => Unplanned::Untold(reason.to_owned()),
                None => Unplanned::Nothing,
            },
            found => found,
        })
    }

    async fn look(
        &mut self,
        home: Home,
        live: &Object,
        context: &Context<'_>,
    ) -> Result<&Seen, ClusterError> {
        self.seen.retain(|_, seen| Instant::now() < seen.until);
        if !self.seen.contains_key(&home) {
            let began = Instant::now();
            let lineage = context.cluster.lineage(&home, &[live]).await?;
            let until = began + FRESH.max(2 * began.elapsed());
            let claims = lineage
                .members()
                .iter()
                .filter(|member| is_claim(&member.reference().kind))
                .cloned()
                .collect();
            self.seen.insert(home.clone(), Seen { until, lineage, claims });
        }
        Ok(&self.seen[&home])
    }
}

/// What a deletion would destroy that the plan did not name.
enum Unplanned {
    Nothing,
    Loss(String),
    /// That cannot be told, for this reason.
    Untold(String),
}

async fn unplanned(
    claims: &[&Object],
    action: &Action,
    context: &Context<'_>,
) -> Result<Unplanned, ClusterError> {
    for claim in claims.iter().filter(|claim| !is_ephemeral(claim)) {
        let Some(volume) = DestroyedVolume::of(claim) else { continue };
        if !action.destroys.contains(&volume) && !is_kept(&volume, context).await? {
            return Ok(Unplanned::Loss(volume.to_string()));
        }
    }
    Ok(Unplanned::Nothing)
}

fn untold(reason: &str) -> String {
    format!("what it takes along cannot be told: {reason}")
}

/// Says whether a claim comes and goes with its pod anyway, under a new name each time (generic ephemeral volumes,
/// KEP-1698).
fn is_ephemeral(claim: &Object) -> bool {
    let owners = claim.body().pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_pod = |owner: &Value| owner["kind"] == "Pod" && owner["apiVersion"] == "v1";
    owners.is_some_and(|owners| !owners.is_empty() && owners.iter().all(is_pod))
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
