//! Which volumes are kept when claims go.

use serde_json::Value;
use windlass_model::{Object, RetainedVolume};

use crate::forecast::claims_going;
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
