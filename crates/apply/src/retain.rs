//! Keeping volumes whose claims are about to be deleted.

use serde_json::{Value, json};
use windlass_cluster::{Failure, FailureKind};
use windlass_model::{Action, GroupKind, Object, ObjectRef, RetainedVolume};

use crate::Context;
use crate::context::Unsent;
use crate::failure::{Halt, Unwritten};

/// How often a volume is read again that changes while it is written.
const ATTEMPTS: u32 = 6;
const POLICY: &str = "/spec/persistentVolumeReclaimPolicy";

/// Sets the reclaim policy of every volume that the plan keeps to `Retain`. Only once it returns may the claims go:
/// whoever provisioned a volume deletes it with its data as soon as its claim is gone and the policy is `Delete`.
pub(crate) async fn retain(action: &Action, context: &Context<'_>) -> Result<(), Halt> {
    for volume in &action.retains {
        retain_one(volume, context).await?;
    }
    Ok(())
}

async fn retain_one(volume: &RetainedVolume, context: &Context<'_>) -> Result<(), Halt> {
    let reference = ObjectRef {
        kind: GroupKind::new("", "PersistentVolume"),
        version: "v1".to_owned(),
        namespace: None,
        name: volume.name.clone(),
    };
    let failed = |error| Halt::from(Unwritten::of(&reference, &error, false));
    let mut live = context.cluster.get(&reference).await.map_err(failed)?;
    let mut repeats = 0;
    for _ in 0..ATTEMPTS {
        let seen = is_planned(live.as_ref(), volume).map_err(|reason| {
            let hint = "nothing was deleted with it; run the same command again: it plans anew";
            Unwritten::because(&reference, reason, hint)
        })?;
        if policy(seen) == Some("Retain") {
            return Ok(());
        }
        let patch = json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": seen.resource_version()},
            {"op": "replace", "path": POLICY, "value": "Retain"},
        ]);
        let request = context.cluster.patch(seen, &patch, false);
        let error = match context.send("patch", &reference, seen.uid(), request).await {
            Ok(answer) => {
                live = Some(answer.object);
                continue;
            }
            Err(Unsent::Stopped) => return Err(Halt::Stopped),
            Err(Unsent::Failed(error)) => error,
        };
        live = match error.failure().map(Failure::kind) {
            Some(FailureKind::Modified) => context.cluster.get(&reference).await.map_err(failed)?,
            _ => context.look_up(&reference, error, &mut repeats).await.map_err(with_right)?,
        };
    }
    let message = format!("others changed it in each of {ATTEMPTS} attempts");
    Err(Unwritten::because(&reference, message, "find out what writes it, then run again").into())
}

/// Returns the live volume if it still is the one that was planned, bound to the same claim.
fn is_planned<'a>(live: Option<&'a Object>, volume: &RetainedVolume) -> Result<&'a Object, String> {
    let live = live.ok_or("was deleted since the plan was made")?;
    if live.uid() != Some(volume.uid.as_str()) {
        return Err("was deleted and created again since the plan was made".to_owned());
    }
    let claim = |field: &str| live.body().pointer(&format!("/spec/claimRef/{field}")).and_then(Value::as_str);
    if (claim("namespace"), claim("name")) != (Some(&volume.namespace), Some(&volume.claim)) {
        return Err(format!("is not bound to the claim {}/{} any more", volume.namespace, volume.claim));
    }
    Ok(live)
}

fn policy(volume: &Object) -> Option<&str> {
    volume.body().pointer(POLICY)?.as_str()
}

/// The right to change volumes is an addition that few environments need.
fn with_right(halt: Halt) -> Halt {
    match halt {
        Halt::Failed(mut unwritten) if unwritten.failure.hint.contains("pipeline/rbac") => {
            "nothing was deleted; `guards.retainVolumes` needs the right to patch volumes: kubectl apply -f pipeline/rbac/optional/retain-volumes.yaml"
                .clone_into(&mut unwritten.failure.hint);
            Halt::Failed(unwritten)
        }
        halt => halt,
    }
}
