//! The definitions of the commit beside those that are live.

mod change;

use std::collections::BTreeMap;

use windlass_model::{GroupKind, Object, Rendering, defined_kind};
use windlass_schema::{Definition, Validator};

use crate::{Ask, ObjectKey, Observation};

pub(crate) use change::{Change, listing_version};

/// The definitions of the commit, by the kind that they define.
pub(crate) struct Definitions<'a>(BTreeMap<GroupKind, Defined<'a>>);

/// A definition of the commit.
pub(crate) struct Defined<'a> {
    /// The position of its unit.
    pub(crate) unit: usize,
    pub(crate) change: Change<'a>,
    /// By version that is served: the schema, where the server does not judge by it yet.
    validators: BTreeMap<&'a str, Validator>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn of(rendering: &'a Rendering, observation: &'a Observation) -> Self {
        let mut definitions = BTreeMap::new();
        for (position, unit) in rendering.units.iter().enumerate() {
            for object in &unit.objects {
                let Some(kind) = defined_kind(object) else { continue };
                if let Some(defined) = Defined::of(position, object, observation) {
                    definitions.insert(kind, defined);
                }
            }
        }
        Self(definitions)
    }

    pub(crate) fn get(&self, kind: &GroupKind) -> Option<&Defined<'a>> {
        self.0.get(kind)
    }

    /// Returns those that are live, each as it is and as it would be.
    pub(crate) fn live(&self) -> impl Iterator<Item = (&Defined<'a>, &Definition<'a>, &Definition<'a>)> {
        self.0
            .values()
            .filter_map(|defined| Some((defined, defined.change.old.as_ref()?, &defined.change.new)))
    }
}

impl<'a> Defined<'a> {
    fn of(unit: usize, object: &'a Object, observation: &'a Observation) -> Option<Self> {
        let asked = observation.objects.get(&ObjectKey::from(object.reference()));
        let live = asked.and_then(|asked| asked.live.as_ref());
        // The server's answer has the server's defaults, as the live definition has.
        let new = match asked.map(|asked| &asked.answer) {
            Some(Ask::Answered(reply)) => &reply.object,
            _ => object,
        };
        let change = Change::between(live, new)?;
        let validators =
            change.judged_anew().map(|version| (version.name(), Validator::of(version))).collect();
        Some(Self { unit, change, validators })
    }

    /// Says whether objects can be written in a version.
    pub(crate) fn serves(&self, version: &str) -> bool {
        self.change.new.serves(version)
    }

    /// Returns the schema of a version if the server does not judge by it yet: the definition is not live, or its
    /// schema changes.
    pub(crate) fn validator(&self, version: &str) -> Option<&Validator> {
        self.validators.get(version)
    }
}
