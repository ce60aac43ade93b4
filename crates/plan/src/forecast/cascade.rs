//! What goes along with a deleted object, counted: pods, claims, and the bytes that nothing brings back.

use std::collections::BTreeSet;

use windlass_model::{DestroyedVolume, Forecast, Object, RetainedVolume, quantity_bytes, readable_bytes};

use super::text;
use crate::guards::some;
use crate::{ObjectKey, Observation};

/// Counts what goes along with an object, by the owner references of what lives beside it and, for StatefulSets, by
/// their retention policy. `None` if it owns neither pods nor claims, or if nothing beside it was looked at.
pub(super) fn of(
    object: &Object,
    observation: &Observation,
    retained: &[RetainedVolume],
) -> Option<Forecast> {
    let key = ObjectKey::from(object.reference());
    let doubt = observation.descendants.get(&key)?.as_ref().err();
    let descendants = observation.descendants_of(&key);
    let pods = descendants.iter().filter(|object| object.reference().kind.is("", "Pod")).count();
    let claims = claims_going(object, observation);
    let retained = names(retained);
    let is_kept = |claim: &Object| is_kept(claim, observation, &retained);
    let known = (pods > 0 || !claims.is_empty()).then(|| counted(pods, &claims, is_kept));
    let Some(reason) = doubt else { return known };
    let told = format!("what goes along with it could not be counted: {reason}");
    Some(match known {
        Some(Forecast::Cascade { text, pods, claims, volumes, bytes }) => {
            let text = format!("{text}; perhaps not all: {told}");
            Forecast::Cascade { text, pods, claims, volumes, bytes }
        }
        _ => Forecast::Note { text: told },
    })
}

/// Returns the claims that go when an object is deleted, as far as they are known.
pub(crate) fn claims_going<'a>(object: &'a Object, observation: &'a Observation) -> Vec<&'a Object> {
    let descendants = observation.descendants_of(&ObjectKey::from(object.reference()));
    windlass_model::claims_going(object, &descendants.iter().collect::<Vec<_>>(), &observation.claims)
}

fn counted(pods: usize, claims: &[&Object], is_kept: impl Fn(&Object) -> bool) -> Forecast {
    let (kept, lost): (Vec<&Object>, Vec<&Object>) = claims
        .iter()
        .copied()
        .filter(|claim| text(claim, "/spec/volumeName").is_some())
        .partition(|claim| is_kept(claim));
    let destroyed: u64 = lost.iter().filter_map(|claim| size(claim)).sum();
    let along = [(pods, "pod"), (claims.len(), "claim")];
    let along: Vec<String> =
        along.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| number(count, noun)).collect();
    let mut parts = vec![format!("takes along {}", along.join(" and "))];
    if !lost.is_empty() {
        let unknown = if lost.iter().all(|claim| size(claim).is_some()) { "" } else { "at least " };
        let claims = lost.iter().map(|claim| claim.reference().name.clone()).collect();
        let size = readable_bytes(destroyed);
        parts.push(format!(
            "{unknown}{size} in {} destroyed: {}",
            number(lost.len(), "volume"),
            some(&claims)
        ));
    }
    if !kept.is_empty() {
        let size = readable_bytes(kept.iter().filter_map(|claim| size(claim)).sum());
        parts.push(format!(
            "{size} in {} kept, bound to nothing (reclaim policy Retain)",
            number(kept.len(), "volume")
        ));
    }
    Forecast::Cascade {
        text: parts.join("; "),
        pods,
        claims: claims.len(),
        volumes: lost.len(),
        bytes: destroyed,
    }
}

/// Returns the volumes whose data goes when an object is deleted, as far as it is known what it takes along.
pub(crate) fn destroyed(
    object: &Object,
    observation: &Observation,
    retained: &[RetainedVolume],
) -> Vec<DestroyedVolume> {
    let (lost, retained) = (claims_going(object, observation), names(retained));
    let lost = lost.into_iter().filter(|claim| !is_kept(claim, observation, &retained));
    let mut volumes: Vec<DestroyedVolume> = lost.filter_map(DestroyedVolume::of).collect();
    volumes.sort();
    volumes
}

/// Says whether it is not known what goes along with an object.
pub(crate) fn is_uncounted(object: &Object, observation: &Observation) -> bool {
    matches!(observation.descendants.get(&ObjectKey::from(object.reference())), Some(Err(_)))
}

/// A volume whose reclaim policy is not known counts as lost.
pub(super) fn is_kept(claim: &Object, observation: &Observation, retained: &BTreeSet<&str>) -> bool {
    let name = text(claim, "/spec/volumeName");
    if name.is_some_and(|name| retained.contains(name)) {
        return true;
    }
    let volume = name.and_then(|name| observation.volumes.get(name));
    volume.and_then(|volume| text(volume, "/spec/persistentVolumeReclaimPolicy")) == Some("Retain")
}

/// Returns the names of volumes: a namespace can hold thousands.
pub(super) fn names(volumes: &[RetainedVolume]) -> BTreeSet<&str> {
    volumes.iter().map(|volume| volume.name.as_str()).collect()
}

pub(super) fn size(claim: &Object) -> Option<u64> {
    let pointers = ["/status/capacity/storage", "/spec/resources/requests/storage"];
    pointers.into_iter().find_map(|pointer| quantity_bytes(text(claim, pointer)?))
}

fn number(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better with plain values")]
    fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Object {
        let body = json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, "namespace": "shop"}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    fn claim(name: &str, volume: &str) -> Object {
        let spec = json!({"volumeName": volume, "resources": {"requests": {"storage": "8Gi"}}});
        object("v1", "PersistentVolumeClaim", name, spec)
    }

    fn set(rule: &str) -> Object {
        let spec = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": rule},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
        object("apps/v1", "StatefulSet", "db", spec)
    }

    fn observation(owner: &Object, descendants: Vec<Object>) -> Observation {
        let volume = |name: &str, policy: &str| {
            let spec = json!({"persistentVolumeReclaimPolicy": policy});
            (name.to_owned(), object("v1", "PersistentVolume", name, spec))
        };
        Observation {
            descendants: [(ObjectKey::from(owner.reference()), Ok(descendants))].into(),
            claims: [("data-db-0", "pv-0"), ("data-db-1", "pv-1"), ("data-db-old", "pv-2")]
                .map(|(name, volume)| claim(name, volume))
                .into_iter()
                .collect(),
            volumes: [volume("pv-0", "Delete"), volume("pv-1", "Retain")].into(),
            ..Observation::default()
        }
    }

    fn check(owner: &Object, observation: &Observation, want: Option<(usize, usize, usize, u64, &str)>) {
        let got = of(owner, observation, &[]).map(|forecast| match forecast {
            Forecast::Cascade { text, pods, claims, volumes, bytes } => (pods, claims, volumes, bytes, text),
            other => panic!("{other:?}"),
        });
        let want =
            want.map(|(pods, claims, volumes, bytes, text)| (pods, claims, volumes, bytes, text.to_owned()));
        assert_eq!(got, want);
    }

    /// A plan that says `- postgresql db` hides three pods and all their data.
    #[test]
    fn a_custom_resource_takes_along_what_descends_from_it() {
        let database = object("acid.zalan.do/v1", "postgresql", "db", json!({}));
        let pod = || object("v1", "Pod", "db-0", json!({}));
        let one = 8 << 30;
        check(
            &database,
            &observation(&database, vec![pod(), claim("other", "pv-0")]),
            Some((1, 1, 1, one, "takes along 1 pod and 1 claim; 8 GiB in 1 volume destroyed: other")),
        );
        let both = "takes along 1 pod and 2 claims; 8 GiB in 1 volume destroyed: data-db-0; 8 GiB in 1 volume kept, bound to nothing (reclaim policy Retain)";
        check(&database, &observation(&database, vec![pod(), set("Delete")]), Some((1, 2, 1, one, both)));
        check(
            &database,
            &observation(&database, vec![pod(), set("Retain")]),
            Some((1, 0, 0, 0, "takes along 1 pod")),
        );
        check(&database, &observation(&database, vec![]), None);
        check(&database, &Observation::default(), None);
    }

    #[test]
    fn a_claim_without_a_volume_or_a_policy() {
        let set = set("Delete");
        let mut seen = observation(
            &set,
            vec![claim("x", "unknown"), object("v1", "PersistentVolumeClaim", "y", json!({}))],
        );
        seen.claims = windlass_model::Claims::default();
        check(&set, &seen, Some((0, 2, 1, 8 << 30, "takes along 2 claims; 8 GiB in 1 volume destroyed: x")));
    }
}
