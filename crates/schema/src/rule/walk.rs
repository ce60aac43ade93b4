//! Evaluating the rules of an object, from the root down.

use cel::Context;
use serde_json::Value;
use windlass_model::FieldPath;

use super::outcome::Outcome;
use super::{Language, Rule, order, outcome, value};
use crate::flaw::{Findings, FlawKind};
use crate::lists::identity;
use crate::node::{List, Node};

/// Evaluates every rule that concerns the object.
pub(crate) fn evaluate(
    language: &Language,
    node: &Node,
    object: &Value,
    old: Option<&Value>,
    findings: &mut Findings,
) {
    walk(language, Place { node, value: object, old }, &FieldPath::root(), findings);
}

/// A value, what it was, and what the schema says about it.
#[derive(Clone, Copy)]
struct Place<'a> {
    node: &'a Node,
    value: &'a Value,
    /// The value before; `None` where there was none, or where old and new items cannot be told apart.
    old: Option<&'a Value>,
}

fn walk(language: &Language, place: Place<'_>, path: &FieldPath, findings: &mut Findings) {
    let Place { node, value, old } = place;
    if !node.rules.is_empty() && !value.is_null() {
        rules(language, place, path, findings);
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let Some(node) = node.field(name) else { continue };
                let old = old.and_then(|old| old.get(name));
                walk(language, Place { node, value, old }, &path.key(name), findings);
            }
        }
        Value::Array(items) => {
            let Some(below) = &node.items else { return };
            for (index, value) in items.iter().enumerate() {
                let old = old.and_then(|old| before(&node.list, old, value));
                walk(language, Place { node: below, value, old }, &path.index(index), findings);
            }
        }
        _ => {}
    }
}

/// Returns the old item that an item stands for: only the items of a map have an identity.
fn before<'a>(list: &List, old: &'a Value, item: &Value) -> Option<&'a Value> {
    let List::Map(keys) = list else { return None };
    let wanted = identity(item, keys)?;
    old.as_array()?.iter().find(|old| identity(old, keys).as_ref() == Some(&wanted))
}

fn rules(language: &Language, place: Place<'_>, path: &FieldPath, findings: &mut Findings) {
    let mut context = Context::with_env(language.0.clone());
    context.add_variable_from_value("self", value::of(place.node, place.value));
    let old = place.old.filter(|old| !old.is_null());
    for rule in &place.node.rules {
        if rule.is_transition && !rule.optional_old && old.is_none() {
            continue;
        }
        let scope = scope(&context, rule, old.map(|old| value::of(place.node, old)));
        let mut outcome = outcome::of(rule, &scope);
        if let (Outcome::Fails, true, Some(old)) = (&outcome, rule.is_transition, old)
            && place.node.holds_unordered()
        {
            outcome = in_any_order(&context, rule, place, old);
        }
        record(rule, outcome, &scope, path, findings);
    }
}

fn scope<'c>(
    context: &'c Context<'_, 'static>,
    rule: &Rule,
    old: Option<cel::Value>,
) -> Context<'c, 'static> {
    let mut scope = context.new_inner_scope();
    match (old, rule.optional_old) {
        (Some(old), false) => scope.add_variable_from_value("oldSelf", old),
        (old, true) => scope.add_variable_from_value("oldSelf", value::optional(old)),
        (None, false) => {}
    }
    scope
}

/// Evaluates a rule that fails again, with the old lists in the order of the new ones where order means nothing. A rule
/// that counts items makes a difference that is not one of order.
fn in_any_order(context: &Context<'_, 'static>, rule: &Rule, place: Place<'_>, old: &Value) -> Outcome {
    let old = value::of(place.node, &order::like(place.node, old, place.value));
    match outcome::of(rule, &scope(context, rule, Some(old))) {
        Outcome::Holds if rule.text.contains('[') => {
            Outcome::Undecided("it may depend on the order of a list that has none".to_owned())
        }
        outcome => outcome,
    }
}

fn record(rule: &Rule, outcome: Outcome, scope: &Context<'_, '_>, path: &FieldPath, findings: &mut Findings) {
    let blamed = rule.field.iter().fold(path.clone(), |path, name| path.key(name));
    match outcome {
        Outcome::Holds => {}
        Outcome::Fails => findings.flaw(&blamed, FlawKind::Rule, outcome::message(rule, scope)),
        Outcome::Breaks(why) => {
            findings.flaw(
                &blamed,
                FlawKind::Rule,
                format!("the rule `{}` cannot be evaluated: {why}", rule.text),
            );
        }
        Outcome::Undecided(why) => {
            findings.unchecked(path, format!("rule not checked locally: `{}` ({why})", rule.text));
        }
    }
}
