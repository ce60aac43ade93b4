//! Schemas of which all, any, one or none must hold.

use serde_json::Value;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};
use crate::node::Node;
use crate::rule::Language;
use crate::shape;

/// Schemas that a value must satisfy besides its own.
#[derive(Debug, Default)]
pub(crate) struct Logic {
    all: Vec<Node>,
    any: Vec<Node>,
    one: Vec<Node>,
    not: Option<Box<Node>>,
}

/// How many of some schemas hold, and for how many that cannot be said.
struct Tally {
    holding: usize,
    unknown: usize,
}

impl Logic {
    pub(crate) fn read(schema: &Value, language: &Language) -> Self {
        let all_of = |key: &str| {
            let schemas = schema[key].as_array().into_iter().flatten();
            schemas.map(|schema| Node::read(schema, language)).collect()
        };
        Self {
            all: all_of("allOf"),
            any: all_of("anyOf"),
            one: all_of("oneOf"),
            not: schema.get("not").map(|schema| Box::new(Node::read(schema, language))),
        }
    }

    pub(crate) fn check(&self, value: &Value, path: &FieldPath, findings: &mut Findings) {
        for node in &self.all {
            shape::check(node, value, path, findings);
        }
        if !self.any.is_empty() {
            let Tally { holding, unknown } = tally(&self.any, value, path);
            let outcome = if holding > 0 { Some(true) } else { (unknown == 0).then_some(false) };
            conclude(outcome, "matches none of the allowed forms (anyOf)", path, findings);
        }
        if !self.one.is_empty() {
            let Tally { holding, unknown } = tally(&self.one, value, path);
            let outcome = if holding > 1 { Some(false) } else { (unknown == 0).then_some(holding == 1) };
            conclude(outcome, "must match exactly one of the allowed forms (oneOf)", path, findings);
        }
        if let Some(node) = self.not.as_deref() {
            let Tally { holding, unknown } = tally(std::slice::from_ref(node), value, path);
            let outcome = (unknown == 0).then_some(holding == 0);
            conclude(outcome, "has a form that is not allowed (not)", path, findings);
        }
    }
}

fn tally(nodes: &[Node], value: &Value, path: &FieldPath) -> Tally {
    let mut tally = Tally { holding: 0, unknown: 0 };
    for node in nodes {
        let mut findings = Findings::default();
        shape::check(node, value, path, &mut findings);
        if findings.flaws.is_empty() {
            *if findings.unchecked.is_empty() { &mut tally.holding } else { &mut tally.unknown } += 1;
        }
    }
    tally
}

fn conclude(outcome: Option<bool>, wrong: &str, path: &FieldPath, findings: &mut Findings) {
    match outcome {
        Some(true) => {}
        Some(false) => findings.flaw(path, FlawKind::Value, wrong),
        None => findings.unchecked(path, "whether an allowed form matches was not checked locally"),
    }
}
