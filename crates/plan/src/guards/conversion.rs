//! The guard `definition-conversion`: what converts between versions must be there before the definition that calls it.
//!
//! A definition is written before the pods of its own unit, and from then on its objects can neither be read nor
//! written in another version than the stored one until the webhook answers. Where no objects exist nothing is lost:
//! an operator may come in one unit with the definition that calls it.

use std::collections::BTreeSet;

use windlass_cluster::Silence;
use windlass_model::{Object, Refusal};

use super::backends::{objects_of, selects};
use super::some;
use crate::ObjectKey;
use crate::definitions::Defined;
use crate::refusal::Guard;
use crate::scene::Scene;

/// Refuses a definition whose objects exist and whose webhook cannot answer when the definition is written.
pub(super) fn refusal(
    scene: &Scene<'_>,
    name: &str,
    defined: &Defined<'_>,
    objects: &[Object],
) -> Option<Refusal> {
    let service = defined.change.converting_service()?;
    let key = ObjectKey::from(&service);
    let silence = *scene.observation.silent_converters.get(&key)?;
    if objects.is_empty() || comes_earlier(scene, defined.unit, &key, silence) {
        return None;
    }
    let names: BTreeSet<String> = objects.iter().map(|object| object.reference().to_string()).collect();
    let late = scene.holder(&key).filter(|_| silence == Silence::Missing);
    let late = late.map(|unit| format!(" so far (the unit `{unit}` delivers it)")).unwrap_or_default();
    Some(Guard::DefinitionConversion.refuses(
        format!(
            "the objects of `{name}` are to be converted by {service}, which {silence}{late}: they could be neither read nor written in another version than the stored one; {} exist: {}",
            names.len(),
            some(&names)
        ),
        format!(
            "deliver the Service and its pods first, in an earlier unit or in a delivery of their own, and change `spec.conversion` once they answer; see what is there: kubectl get services,endpointslices -n {}",
            service.namespace.as_deref().unwrap_or_default()
        ),
    ))
}

/// Tells of a definition whose objects exist and will be converted at another address: the server asks it only once the
/// definition is written, and Windlass may stand where it cannot be reached.
pub(super) fn warning(name: &str, defined: &Defined<'_>, objects: &[Object]) -> Option<String> {
    let url = defined.change.new_converting_url().filter(|_| !objects.is_empty())?;
    Some(format!(
        "the objects of `{name}` are to be converted by {url}, which is not tried out: if it does not answer the API server, the {} that exist can be neither read nor written in another version than the stored one",
        objects.len()
    ))
}

/// Says whether the units before the definition's own bring what is missing; their rollout is waited for.
fn comes_earlier(scene: &Scene<'_>, position: usize, service: &ObjectKey, silence: Silence) -> bool {
    let Some(desired) = scene.desired(service) else { return false };
    let Some((earlier, later)) = scene.inputs.rendering.units.split_at_checked(position) else {
        return false;
    };
    let brings_service = earlier
        .iter()
        .flat_map(objects_of)
        .any(|(_, object)| ObjectKey::from(object.reference()) == *service);
    let brings_pods = earlier.iter().flat_map(objects_of).any(|(_, object)| selects(desired, object));
    let pods_are_late = || later.iter().flat_map(objects_of).any(|(_, object)| selects(desired, object));
    match silence {
        Silence::Missing => brings_service && (brings_pods || !pods_are_late()),
        Silence::Unready => brings_pods,
    }
}
