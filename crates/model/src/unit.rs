//! Units: what is applied in one step and pruned as one ApplySet.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, Object, identity};

/// The name of a unit: a DNS label, unique in the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(transparent)]
pub struct UnitName(String);

impl UnitName {
    /// Takes a name that is a DNS label of at most 60 characters.
    pub fn new(name: &str) -> Option<Self> {
        identity::is_dns_label(name, 60).then(|| Self(name.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One rendered directory = one ApplySet = one step of the order.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The unit's name.
    pub name: UnitName,
    /// The directory inside the tree.
    pub path: String,
    /// The objects, in the order in which they were rendered.
    pub objects: Vec<Object>,
}

/// Everything one tree renders to, in the order of the units.
#[derive(Debug, Clone)]
pub struct Rendering {
    /// The units, in the order in which they are applied.
    pub units: Vec<Unit>,
    /// What rendered, with its version: `plain` or `kustomize v5.8.1`.
    pub renderer: String,
    /// The digest of all objects of all units.
    pub digest: Digest,
    /// Legal but dangerous things that the reader noticed, each with file and line.
    pub warnings: Vec<String>,
}

impl Rendering {
    /// Returns all objects with the unit they belong to.
    pub fn objects(&self) -> impl Iterator<Item = (&Unit, &Object)> {
        self.units.iter().flat_map(|unit| unit.objects.iter().map(move |object| (unit, object)))
    }
}
