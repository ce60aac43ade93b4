//! Which pods an operator replaces when its resource changes.

mod table;

use windlass_model::{FieldChange, FieldPattern, Forecast, GroupKind, Object};

use super::note;

/// An operator, and what it does when fields of its resource change.
struct Operator {
    name: &'static str,
    group: &'static str,
    kinds: &'static [&'static str],
    /// Where the number of pods stands, as JSON pointers.
    pods: &'static [&'static str],
    /// In which order pods are replaced.
    order: &'static str,
    /// The first rule whose field covers a change counts.
    rules: &'static [Rule],
}

/// What happens when a field changes.
struct Rule {
    field: &'static str,
    effect: Effect,
    why: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// All pods are replaced.
    Rolls,
    /// The operator decides by more than the field.
    Maybe,
    /// No pod is replaced.
    Quiet,
}

/// Says what the operator of a changed resource does to its pods; `None` where no operator is known for the kind.
pub(super) fn of_change(before: &Object, after: &Object, delta: &[FieldChange]) -> Option<Vec<Forecast>> {
    let operator = Operator::of(&after.reference().kind)?;
    let told = |effect| operator.told(delta, effect);
    let (rolls, maybe) = (told(Effect::Rolls), told(Effect::Maybe));
    let restart =
        if rolls.is_empty() { operator.possibly(&maybe) } else { operator.rolls(before, after, &rolls) };
    let quiet = told(Effect::Quiet);
    let calm = quiet.iter().map(|told| note(format!("{} restarts no pod for {told}", operator.name)));
    Some(restart.into_iter().chain(calm).collect())
}

impl Operator {
    fn of(kind: &GroupKind) -> Option<&'static Self> {
        let is_it = |operator: &&Self| {
            operator.group == kind.group
                && operator.kinds.iter().any(|known| known.eq_ignore_ascii_case(&kind.kind))
        };
        table::OPERATORS.iter().find(is_it)
    }

    /// Names the changed fields with an effect, each rule once: `spec.storage.size (volumes only grow)`.
    fn told(&self, delta: &[FieldChange], effect: Effect) -> Vec<String> {
        let mut told = Vec::new();
        for change in delta {
            let rule = self.rule(change);
            let is_counted = rule.is_some() || change.path.starts_with(&["spec"]);
            if !is_counted || rule.map_or(Effect::Maybe, |rule| rule.effect) != effect {
                continue;
            }
            let text = match rule {
                Some(rule) if rule.why.is_empty() => change.path.to_string(),
                Some(rule) => format!("{} ({})", change.path, rule.why),
                None => format!("{} (nothing is known about it)", change.path),
            };
            if !told.contains(&text) {
                told.push(text);
            }
        }
        told
    }

    fn rule(&self, change: &FieldChange) -> Option<&Rule> {
        let covers =
            |rule: &&Rule| FieldPattern::parse(rule.field).is_ok_and(|pattern| pattern.covers(&change.path));
        self.rules.iter().find(covers)
    }

    fn rolls(&self, before: &Object, after: &Object, causes: &[String]) -> Option<Forecast> {
        let count = |object: &Object| {
            let counts = self.pods.iter().map(|pointer| object.body().pointer(pointer)?.as_u64());
            counts.sum::<Option<u64>>().filter(|_| !self.pods.is_empty())
        };
        let pods = count(before).zip(count(after)).map(|(was, will)| was.min(will));
        let number = match pods {
            Some(0) => return None,
            Some(1) => "1 pod".to_owned(),
            Some(pods) => format!("{pods} pods"),
            None => "its pods".to_owned(),
        };
        let why =
            format!("{number}, rolled by {}: {}; because of: {}", self.name, self.order, causes.join(", "));
        Some(Forecast::Restart { why, pods: pods.and_then(|pods| usize::try_from(pods).ok()) })
    }

    fn possibly(&self, causes: &[String]) -> Option<Forecast> {
        let why = format!("possibly: {} may roll its pods for {}", self.name, causes.join(", "));
        (!causes.is_empty()).then_some(Forecast::Restart { why, pods: None })
    }
}

#[cfg(test)]
mod tests;
