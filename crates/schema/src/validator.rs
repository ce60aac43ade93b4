//! Judging objects by one schema.

use serde_json::{Value, json};
use windlass_model::FieldPath;

use crate::definition::Version;
use crate::flaw::{Findings, Flaw};
use crate::node::Node;
use crate::rule::{self, Language};
use crate::{defaults, metadata, shape, unknown};

/// A schema that is ready to judge objects.
#[derive(Debug)]
pub struct Validator {
    root: Node,
    language: Language,
}

impl Validator {
    /// Reads a schema (`openAPIV3Schema`).
    pub fn new(schema: &Value) -> Self {
        let language = Language::new();
        Self { root: Node::read(schema, &language), language }
    }

    /// Reads the schema of a version. Without one everything is accepted: the server refuses such a definition itself.
    pub fn of(version: Version<'_>) -> Self {
        version
            .schema()
            .map_or_else(|| Self::new(&json!({"x-kubernetes-preserve-unknown-fields": true})), Self::new)
    }

    /// Names the fields that would not be stored.
    pub fn unknown(&self, object: &Value) -> Vec<Flaw> {
        let mut findings = Findings::default();
        unknown::prune(&self.root, &mut object.clone(), &FieldPath::root(), true, &mut findings);
        findings.flaws
    }

    /// Judges an object as it would be stored, in the order of the server: unknown fields are dropped, defaults set,
    /// the structure is checked, and then, if nothing is in the way, the rules. Rules on transitions are evaluated
    /// where there is an old object.
    pub fn check(&self, object: &Value, old: Option<&Value>) -> Findings {
        let root = FieldPath::root();
        let object = self.stored(object);
        let mut findings = Findings::default();
        metadata::shape(&object["metadata"], &root.key("metadata"), &mut findings);
        shape::check(&self.root, &object, &root, &mut findings);
        if !findings.stops_rules() {
            let old = old.map(|old| self.stored(old));
            rule::evaluate(&self.language, &self.root, &object, old.as_ref(), &mut findings);
        }
        findings.flaws.dedup();
        findings.unchecked.sort();
        findings.unchecked.dedup();
        findings
    }

    /// Returns what would be stored of an object: what the schema declares, with its defaults.
    fn stored(&self, object: &Value) -> Value {
        let mut object = object.clone();
        unknown::prune(&self.root, &mut object, &FieldPath::root(), true, &mut Findings::default());
        defaults::apply(&self.root, &mut object);
        object
    }
}
