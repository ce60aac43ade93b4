//! What judging one object needs to know about all of them.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

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
    /// What the units hold, the first if several hold the same object.
    held: BTreeMap<ObjectKey, Held<'a>>,
    /// Where a name occurs, by kind, given without its group, and name.
    named: BTreeMap<(&'a str, &'a str), Vec<Place<'a>>>,
    /// Where the commit changes what decides which pods are taken.
    new_rules: OnceCell<NewRules>,
    /// What the commit renders under names that a generator made.
    pub(crate) generated: Generated<'a>,
    /// Which kinds the commit defines.
    pub(crate) definitions: Definitions<'a>,
    /// What may be deleted although it is protected.
    pub(crate) permissions: Permissions<'a>,
}

struct Held<'a> {
    unit: &'a UnitName,
    object: &'a Object,
}

struct Place<'a> {
    namespace: Option<&'a str>,
    /// That of the unit.
    position: usize,
}

/// Where the commit changes what decides which pods are taken: what the server says to a pod is said by the old rules.
struct NewRules {
    /// Policies and webhooks judge in every namespace.
    everywhere: bool,
    /// Namespaces with other labels or limits.
    namespaces: BTreeSet<String>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(inputs: &'a Inputs<'a>, observation: &'a Observation) -> Self {
        let mut ids: BTreeMap<String, UnitName> =
            observation.sets.iter().map(|set| (set.id(), set.unit.clone())).collect();
        let mut namespaces = BTreeMap::new();
        let mut held = BTreeMap::new();
        let mut named: BTreeMap<_, Vec<Place<'_>>> = BTreeMap::new();
        for (position, unit) in inputs.rendering.units.iter().enumerate() {
            if let Some(environment) = &inputs.environment {
                let set = ApplySet::empty(environment.clone(), unit.name.clone(), inputs.record_namespace);
                ids.insert(set.id(), unit.name.clone());
            }
            for object in &unit.objects {
                let reference = object.reference();
                held.entry(ObjectKey::from(reference)).or_insert(Held { unit: &unit.name, object });
                let name = (reference.kind.kind.as_str(), reference.name.as_str());
                let namespace = reference.namespace.as_deref();
                named.entry(name).or_default().push(Place { namespace, position });
                if kinds::is_namespace(&reference.kind) {
                    namespaces.insert(reference.name.as_str(), position);
                }
            }
        }
        let rendered = Rendered::new(inputs.rendering, observation);
        let generated = Generated::of(inputs.rendering.objects().map(|(_, object)| object));
        let definitions = Definitions::of(inputs.rendering, observation);
        let permissions = Permissions::of(inputs);
        let new_rules = OnceCell::new();
        Self {
            inputs,
            observation,
            rendered,
            ids,
            namespaces,
            held,
            named,
            new_rules,
            generated,
            definitions,
            permissions,
        }
    }

    /// Returns the unit whose set an id names, if the set is one of this environment.
    pub(crate) fn unit_of(&self, id: &str) -> Option<&UnitName> {
        self.ids.get(id)
    }

    /// Returns the first unit that holds an object.
    pub(crate) fn holder(&self, object: &ObjectKey) -> Option<&'a UnitName> {
        self.held.get(object).map(|held| held.unit)
    }

    /// Returns a rendered object; the first if several units render it.
    pub(crate) fn desired(&self, object: &ObjectKey) -> Option<&'a Object> {
        self.held.get(object).map(|held| held.object)
    }

    /// Returns the position of the first unit that holds an object of a kind, given without its group, in a namespace
    /// or in none.
    pub(crate) fn position_of(&self, kind: &str, name: &str, namespace: Option<&str>) -> Option<usize> {
        let found = self.named.get(&(kind, name))?;
        let here = |place: &&Place<'_>| place.namespace.is_none() || place.namespace == namespace;
        found.iter().find(here).map(|place| place.position)
    }

    /// Says whether the commit changes what decides which pods a namespace takes: policies, webhooks, limits, or the
    /// namespace's own labels.
    pub(crate) fn changes_rules_for(&self, namespace: &str) -> bool {
        self.changes_policies() || self.new_rules().namespaces.contains(namespace)
    }

    /// Says whether the commit changes policies or webhooks.
    pub(crate) fn changes_policies(&self) -> bool {
        self.new_rules().everywhere
    }

    fn new_rules(&self) -> &NewRules {
        self.new_rules.get_or_init(|| {
            let everywhere =
                self.held.keys().any(|key| kinds::is_policy(&key.kind) && self.would_change(key));
            let ruled = |key: &ObjectKey| match &key.namespace {
                Some(namespace) if key.kind.is("", "LimitRange") => Some(namespace.clone()),
                None if kinds::is_namespace(&key.kind) => Some(key.name.clone()),
                _ => None,
            };
            let changed = self.held.keys().filter(|key| ruled(key).is_some() && self.would_change(key));
            NewRules { everywhere, namespaces: changed.filter_map(ruled).collect() }
        })
    }

    /// Says whether a rendered object would be written, as far as the server's answer tells.
    pub(crate) fn would_change(&self, object: &ObjectKey) -> bool {
        let asked = self.observation.objects.get(object);
        match asked.map(|asked| (&asked.live, &asked.answer)) {
            Some((Some(live), Ask::Answered(reply))) => {
                !live.holds_the_same(&reply.object)
                    && !windlass_model::changes(&live.folded(), &reply.object.folded()).is_empty()
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
