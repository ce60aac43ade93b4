//! The PersistentVolumeClaims that deletions can take along, found by what takes them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{Object, is_claim, is_namespace, is_stateful_set};

/// Claims by namespace, and by the StatefulSet that they were made for.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// By namespace and by the name without its ordinal. Whatever has no ordinal is there under its whole name and a
    /// slash, which no other name holds.
    namespaces: BTreeMap<String, BTreeMap<String, Vec<Object>>>,
}

impl Claims {
    /// Returns all claims.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.namespaces.values().flat_map(BTreeMap::values).flatten()
    }

    /// Returns the claims of a namespace.
    pub fn inside(&self, namespace: &str) -> impl Iterator<Item = &Object> {
        self.namespaces.get(namespace).into_iter().flat_map(BTreeMap::values).flatten()
    }

    /// Returns the claims that were made from the claim templates of a StatefulSet, for whatever ordinal.
    pub fn of_set(&self, set: &Object) -> impl Iterator<Item = &Object> {
        let reference = set.reference();
        let here = reference.namespace.as_ref().and_then(|namespace| self.namespaces.get(namespace));
        let stems = claim_templates(set).into_iter().map(|template| format!("{template}-{}", reference.name));
        stems.filter_map(move |stem| here?.get(&stem)).flatten()
    }
}

impl FromIterator<Object> for Claims {
    fn from_iter<I: IntoIterator<Item = Object>>(claims: I) -> Self {
        let mut namespaces: BTreeMap<String, BTreeMap<String, Vec<Object>>> = BTreeMap::new();
        for claim in claims {
            let reference = claim.reference();
            let stem = stem(&reference.name).map_or_else(|| format!("{}/", reference.name), str::to_owned);
            let namespace = reference.namespace.clone().unwrap_or_default();
            namespaces.entry(namespace).or_default().entry(stem).or_default().push(claim);
        }
        Self { namespaces }
    }
}

/// Returns the claims that go when an object is deleted: itself, those of a namespace, those among its descendants, and
/// those that a StatefulSet among the deleted takes along by its policy although they do not name it as their owner yet.
pub fn claims_going<'a>(
    object: &'a Object,
    descendants: &[&'a Object],
    claims: &'a Claims,
) -> Vec<&'a Object> {
    let reference = object.reference();
    if is_claim(&reference.kind) {
        return vec![object];
    }
    let owned = descendants.iter().copied().filter(|object| is_claim(&object.reference().kind));
    let whole = is_namespace(&reference.kind).then_some(reference.name.as_str());
    let inside = whole.into_iter().flat_map(|namespace| claims.inside(namespace));
    let made = std::iter::once(object)
        .chain(descendants.iter().copied())
        .filter(|object| is_stateful_set(&object.reference().kind))
        .filter(|set| deletes_claims(set))
        .flat_map(|set| claims.of_set(set));
    let mut seen = BTreeSet::new();
    owned.chain(inside).chain(made).filter(|claim| seen.insert(claim.reference().key())).collect()
}

/// Returns the names of a StatefulSet's claim templates.
pub fn claim_templates(set: &Object) -> Vec<&str> {
    let templates = set.body().pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let templates = templates.into_iter().flatten();
    templates.filter_map(|template| template.pointer("/metadata/name")?.as_str()).collect()
}

/// Says whether the claims of a StatefulSet go when it is deleted.
pub fn deletes_claims(set: &Object) -> bool {
    set.body().pointer("/spec/persistentVolumeClaimRetentionPolicy/whenDeleted") == Some(&"Delete".into())
}

/// Returns a name without its ordinal, if it ends in one.
fn stem(name: &str) -> Option<&str> {
    name.rsplit_once('-').filter(|(_, ordinal)| ordinal.parse::<u64>().is_ok()).map(|(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_of_a_set_have_its_name_and_an_ordinal() {
        let object = |kind: &str, namespace: &str, name: &str| {
            let metadata = json!({"name": name, "namespace": namespace});
            let templates = json!([{"metadata": {"name": "data"}}, {"metadata": {"name": "none"}}]);
            let spec = json!({"volumeClaimTemplates": templates});
            Object::new(json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}), None)
                .unwrap()
        };
        let claim = |name: &str| object("PersistentVolumeClaim", "shop", name);
        let names =
            ["data-db-0", "data-db-10", "data-db-old", "data-db", "data-db-x-0", "log-db-0", "data-db--1"];
        let mut claims: Vec<Object> = names.into_iter().map(claim).collect();
        claims.push(object("PersistentVolumeClaim", "other", "data-db-2"));
        let claims: Claims = claims.into_iter().collect();
        let list = |found: &mut dyn Iterator<Item = &Object>| -> Vec<String> {
            found.map(|claim| claim.reference().name.clone()).collect()
        };
        let set = object("StatefulSet", "shop", "db");
        assert_eq!(list(&mut claims.of_set(&set)), ["data-db-0", "data-db-10"]);
        assert_eq!(list(&mut claims.of_set(&object("StatefulSet", "shop", "d"))), [""; 0]);
        assert_eq!(list(&mut claims.inside("shop")).len(), names.len());
        assert_eq!(claims.iter().count(), names.len() + 1);
    }
}
