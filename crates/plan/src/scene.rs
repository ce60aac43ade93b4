//! What judging one object needs to know about all of them.

use std::collections::BTreeMap;

use windlass_model::{ApplySet, GroupKind, Object, UnitName};

use crate::definitions::{Defined, Definitions};
use crate::evidence::Rendered;
use crate::guards::Permissions;
use crate::hashed::Generated;
use crate::{Ask, Inputs, ObjectKey, Observation, kinds};

/// The rendering and the observation, indexed.
pub(crate) struct Scene<'a> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) observation: &'a Observation,
    pub(crate) rendered: Rendered,
    /// Which unit a set's id belongs to.
    ids: BTreeMap<String, UnitName>,
    /// Which namespaces the commit holds, each with the position of its unit.
    namespaces: BTreeMap<&'a str, usize>,
    /// Which unit holds an object, the first if several do.
    holders: BTreeMap<ObjectKey, &'a UnitName>,
    /// What the commit renders under names that a generator made.
    pub(crate) generated: Generated<'a>,
    /// Which kinds the commit defines.
    pub(crate) definitions: Definitions<'a>,
    /// What may be deleted although it is protected.
    pub(crate) permissions: Permissions<'a>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(inputs: &'a Inputs<'a>, observation: &'a Observation) -> Self {
        let mut ids: BTreeMap<String, UnitName> =
            observation.sets.iter().map(|set| (set.id(), set.unit.clone())).collect();
        let mut namespaces = BTreeMap::new();
        let mut holders = BTreeMap::new();
        for (position, unit) in inputs.rendering.units.iter().enumerate() {
            if let Some(environment) = &inputs.environment {
                let set = ApplySet::empty(environment.clone(), unit.name.clone(), inputs.record_namespace);
                ids.insert(set.id(), unit.name.clone());
            }
            for object in &unit.objects {
                let reference = object.reference();
                holders.entry(ObjectKey::from(reference)).or_insert(&unit.name);
                if kinds::is_namespace(&reference.kind) {
                    namespaces.insert(reference.name.as_str(), position);
                }
            }
        }
        let rendered = Rendered::new(inputs.rendering, observation);
        let generated = Generated::of(inputs.rendering.objects().map(|(_, object)| object));
        let definitions = Definitions::of(inputs.rendering, observation);
        let permissions = Permissions::of(inputs);
        Self { inputs, observation, rendered, ids, namespaces, holders, generated, definitions, permissions }
    }

    /// Returns the unit whose set an id names, if the set is one of this environment.
    pub(crate) fn unit_of(&self, id: &str) -> Option<&UnitName> {
        self.ids.get(id)
    }

    /// Returns the first unit that holds an object.
    pub(crate) fn holder(&self, object: &ObjectKey) -> Option<&'a UnitName> {
        self.holders.get(object).copied()
    }

    /// Returns a rendered object; the first if several units render it.
    pub(crate) fn desired(&self, object: &ObjectKey) -> Option<&'a Object> {
        let units = &self.inputs.rendering.units;
        units
            .iter()
            .flat_map(|unit| &unit.objects)
            .find(|desired| ObjectKey::from(desired.reference()) == *object)
    }

    /// Returns the position of the first unit that holds an object of a kind, given without its group, in a namespace
    /// or in none.
    pub(crate) fn position_of(&self, kind: &str, name: &str, namespace: Option<&str>) -> Option<usize> {
        let is_it = |object: &Object| {
            let reference = object.reference();
            let here = reference.namespace.is_none() || reference.namespace.as_deref() == namespace;
            reference.kind.kind == kind && reference.name == name && here
        };
        self.inputs.rendering.units.iter().position(|unit| unit.objects.iter().any(is_it))
    }

    /// Says whether the commit changes what decides which pods a namespace takes: policies, webhooks, limits, or the
    /// namespace's own labels. What the server says to such a pod is said by the old rules.
    pub(crate) fn changes_rules_for(&self, namespace: &str) -> bool {
        let decides = |key: &ObjectKey| {
            kinds::is_namespace(&key.kind) && key.name == namespace
                || key.kind.is("", "LimitRange") && key.namespace.as_deref() == Some(namespace)
        };
        self.changes_policies() || self.holders.keys().any(|key| decides(key) && self.would_change(key))
    }

    /// Says whether the commit changes policies or webhooks, which judge in every namespace.
    pub(crate) fn changes_policies(&self) -> bool {
        self.holders.keys().any(|key| kinds::is_policy(&key.kind) && self.would_change(key))
    }

    /// Says whether a rendered object would be written, as far as the server's answer tells.
    pub(crate) fn would_change(&self, object: &ObjectKey) -> bool {
        let asked = self.observation.objects.get(object);
        match asked.map(|asked| (&asked.live, &asked.answer)) {
            Some((Some(live), Ask::Answered(reply))) => {
                !windlass_model::changes(live, &reply.object).is_empty()
            }
            _ => true,
        }
    }

    /// Says whether a rendered object exists.
    pub(crate) fn is_live(&self, object: &ObjectKey) -> bool {
        self.observation.objects.get(object).is_some_and(|asked| asked.live.is_some())
    }

    /// Says whether there are sets at all: there are none when a bare directory is planned.
    pub(crate) fn has_sets(&self) -> bool {
        self.inputs.environment.is_some()
    }

    /// Returns the position of the unit that holds a namespace.
    pub(crate) fn namespace(&self, name: &str) -> Option<usize> {
        self.namespaces.get(name).copied()
    }

    /// Returns the definition of a kind, if the commit holds it.
    pub(crate) fn definition(&self, kind: &GroupKind) -> Option<&Defined<'a>> {
        self.definitions.get(kind)
    }
}
