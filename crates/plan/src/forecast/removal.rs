//! What a deletion takes along.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::{Forecast, Object, RetainedVolume, claim_templates, deletes_claims, is_custom_kind};

use super::{cascade, claims_going, note, operators, text};
use crate::{ObjectKey, Observation, kinds};

/// Returns the namespace whose claims must be known to foresee what the deletion of an object takes along.
pub(crate) fn claims_in(object: &Object) -> Option<&str> {
    let reference = object.reference();
    if kinds::is_namespace(&reference.kind) {
        Some(&reference.name)
    } else if kinds::is_stateful_set(&reference.kind) && deletes_claims(object) {
        reference.namespace.as_deref()
    } else {
        None
    }
}

/// Says what the deletion of an object takes along; `retained` volumes are kept beforehand.
pub(crate) fn of_removal(
    object: &Object,
    observation: &Observation,
    retained: &[RetainedVolume],
) -> Vec<Forecast> {
    let counted = || cascade::of(object, observation, retained);
    let kept = cascade::names(retained);
    let of_claims =
        || claims_going(object, observation).into_iter().map(|claim| of_claim(claim, observation, &kept));
    let reference = object.reference();
    let kind = &reference.kind;
    if kinds::is_claim(kind) {
        return of_claims().collect();
    }
    if kinds::is_namespace(kind) {
        return std::iter::once(everything_in(object)).chain(counted()).chain(of_claims()).collect();
    }
    if kinds::is_stateful_set(kind) {
        return counted().into_iter().chain(of_stateful_set(object, retained)).chain(of_claims()).collect();
    }
    if kinds::is_definition(kind) {
        return vec![of_definition(object, observation)];
    }
    if kind.is("", "PersistentVolume") {
        return vec![loss(format!(
            "the volume `{}`: what it points to is not found any more",
            reference.name
        ))];
    }
    if kind.is("", "Secret") {
        let keys =
            object.body().get("data").and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key);
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        return vec![loss(format!("the values of: {}", keys.join(", ")))];
    }
    if is_custom_kind(kind) {
        let what = format!(
            "whatever the operator of `{kind}` deletes with it: pods, credentials, by many operators' default claims and volumes too"
        );
        let habit = operators::on_deletion(kind).map(note);
        let descendants = observation.descendants_of(&ObjectKey::from(reference));
        let namespaces = descendants.iter().filter(|object| kinds::is_namespace(&object.reference().kind));
        return namespaces
            .map(everything_in)
            .chain(counted())
            .chain(of_claims())
            .chain(habit)
            .chain([loss(what)])
            .collect();
    }
    counted().into_iter().collect()
}

fn loss(what: impl Into<String>) -> Forecast {
    Forecast::DataLoss { what: what.into() }
}

fn everything_in(namespace: &Object) -> Forecast {
    loss(format!("everything in the namespace `{}`", namespace.reference().name))
}

fn of_claim(claim: &Object, observation: &Observation, kept: &BTreeSet<&str>) -> Forecast {
    let size = text(claim, "/status/capacity/storage")
        .or_else(|| text(claim, "/spec/resources/requests/storage"))
        .unwrap_or("size unknown");
    let class = text(claim, "/spec/storageClassName").unwrap_or("no class");
    let name = ObjectKey::from(claim.reference());
    let volume = text(claim, "/spec/volumeName");
    let policy = volume
        .and_then(|volume| observation.volumes.get(volume))
        .and_then(|volume| text(volume, "/spec/persistentVolumeReclaimPolicy"));
    match (volume, policy) {
        (Some(volume), Some("Retain")) => note(format!(
            "{name} ({size}, {class}): the volume `{volume}` stays with its data (reclaim policy Retain), bound to nothing"
        )),
        (Some(volume), Some(policy)) if kept.contains(volume) => note(format!(
            "{name} ({size}, {class}): the volume `{volume}` stays with its data (its reclaim policy {policy} is set to Retain first), bound to nothing"
        )),
        (Some(volume), policy) => loss(format!(
            "{name} ({size}, {class}): the volume `{volume}` goes with its data (reclaim policy {})",
            policy.unwrap_or("unknown")
        )),
        (None, _) => note(format!("{name} ({size}, {class}): it is bound to no volume")),
    }
}

fn of_stateful_set(set: &Object, retained: &[RetainedVolume]) -> Option<Forecast> {
    let templates = claim_templates(set);
    if templates.is_empty() {
        return None;
    }
    if deletes_claims(set) {
        let what = "its claims go with it (whenDeleted Delete)";
        return Some(if retained.is_empty() { loss(what) } else { note(what) });
    }
    let names: Vec<String> =
        templates.iter().map(|template| format!("{template}-{}-*", set.reference().name)).collect();
    Some(note(format!("its claims stay: {}", names.join(", "))))
}

fn of_definition(object: &Object, observation: &Observation) -> Forecast {
    let count =
        observation.definitions.get(&ObjectKey::from(object.reference())).map(|definition| match &definition
            .objects
        {
            Ok(objects) => format!("every `{}` in all namespaces: {}", definition.kind, objects.len()),
            Err(reason) => {
                format!("every `{}` in all namespaces; they could not be counted: {reason}", definition.kind)
            }
        });
    loss(count.unwrap_or_else(|| "every object of the kind it defines".to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(name: &str, volume: Option<&str>) -> Object {
        let body = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"volumeName": volume, "storageClassName": "fast", "resources": {"requests": {"storage": "8Gi"}}}});
        Object::new(body, None).unwrap()
    }

    fn observation(policy: &str) -> Observation {
        let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-1"},
            "spec": {"persistentVolumeReclaimPolicy": policy}});
        Observation {
            volumes: [("pv-1".to_owned(), Object::new(volume, None).unwrap())].into(),
            claims: [claim("data-db-0", Some("pv-1")), claim("data-db-old-0", None), claim("other", None)]
                .into_iter()
                .collect(),
            ..Observation::default()
        }
    }

    fn check(object: &Object, observation: &Observation, want: &[&str], without: &[&str]) {
        let got = format!("{:?}", of_removal(object, observation, &[]));
        for want in want {
            assert!(got.contains(want), "{got} lacks {want}");
        }
        for without in without {
            assert!(!got.contains(without), "{got} has {without}");
        }
    }

    #[test]
    fn the_volumes_policy_decides_over_the_data() {
        let bound = claim("data-db-0", Some("pv-1"));
        check(&bound, &observation("Delete"), &["DataLoss", "8Gi", "fast", "reclaim policy Delete"], &[]);
        check(&bound, &observation("Retain"), &["Note", "stays with its data"], &["DataLoss"]);
        check(&bound, &Observation::default(), &["DataLoss", "reclaim policy unknown"], &[]);
        check(&claim("new", None), &Observation::default(), &["bound to no volume"], &["DataLoss"]);
    }

    #[test]
    fn claims_of_a_stateful_set_go_only_if_its_policy_says_so() {
        let set = |policy: &str| {
            let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
                "metadata": {"name": "db", "namespace": "shop"},
                "spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": policy},
                    "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}});
            Object::new(body, None).unwrap()
        };
        check(&set("Retain"), &observation("Delete"), &["its claims stay: data-db-*"], &["DataLoss"]);
        check(&set("Delete"), &observation("Delete"), &["DataLoss", "data-db-0 (8Gi"], &["db-old", "other"]);
    }

    #[test]
    fn a_namespace_takes_its_claims_along_and_a_secret_shows_key_names_only() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        let namespace = Object::new(namespace, None).unwrap();
        check(
            &namespace,
            &observation("Delete"),
            &["everything in the namespace", "shop/data-db-0", "shop/other"],
            &[],
        );
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "aHVudGVyMg=="}});
        let secret = Object::new(secret, None).unwrap();
        check(&secret, &Observation::default(), &["the values of: k"], &["aHVudGVyMg"]);
    }
}
