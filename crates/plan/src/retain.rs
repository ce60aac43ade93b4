//! Which volumes are kept when claims go.

use serde_json::Value;
use windlass_model::{Object, RetainedVolume};

use crate::forecast::{claims_going, is_uncounted};
use crate::scene::Scene;

/// Returns the volumes of the claims that the deletion of an object takes along, where the environment file asks to
/// keep them: also those that would stay anyway, so that a run that was killed in between finds the same effect.
pub(crate) fn volumes(scene: &Scene<'_>, object: &Object) -> Vec<RetainedVolume> {
    if !scene.inputs.guards.retain_volumes {
        return Vec::new();
    }
    let volume = |claim: &&Object| {
        let name = claim.body().pointer("/spec/volumeName")?.as_str()?;
        retained(claim, scene.observation.volumes.get(name)?)
    };
    claims_going(object, scene.observation).iter().filter_map(volume).collect()
}

/// Returns why volumes that are to be kept might not be, if that is so: a claim that is not known, or a volume that could
/// not be read.
pub(crate) fn doubt(scene: &Scene<'_>, object: &Object) -> Option<String> {
    if !scene.inputs.guards.retain_volumes {
        return None;
    }
    let unread = |claim: &&Object| {
        let name = claim.body().pointer("/spec/volumeName")?.as_str()?;
        let is_lost = claim.body().pointer("/status/phase").is_some_and(|phase| phase == "Lost");
        let unread = !is_lost && !scene.observation.volumes.contains_key(name);
        unread.then(|| format!("the volume `{name}` of {} could not be read", claim.reference()))
    };
    let what = if is_uncounted(object, scene.observation) {
        "which ones go with it could not be found out".to_owned()
    } else {
        claims_going(object, scene.observation).iter().find_map(unread)?
    };
    Some(format!(
        "volumes are to be kept before their claims go (`guards.retainVolumes`), and {what}: let the identity read it, or do without the guard for this deletion"
    ))
}

fn retained(claim: &Object, volume: &Object) -> Option<RetainedVolume> {
    let text =
        |pointer: &str| volume.body().pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let modes = volume.body().pointer("/spec/accessModes").and_then(Value::as_array);
    Some(RetainedVolume {
        name: volume.reference().name.clone(),
        uid: volume.uid()?.to_owned(),
        namespace: claim.reference().namespace.clone()?,
        claim: claim.reference().name.clone(),
        capacity: text("/spec/capacity/storage"),
        access_modes: modes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        storage_class: text("/spec/storageClassName"),
        volume_mode: text("/spec/volumeMode"),
    })
}
