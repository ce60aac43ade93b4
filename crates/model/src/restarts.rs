//! In which order pods restart across a whole plan.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Action, Forecast, ObjectRef, Plan, UnitName, apply_rank};

/// One object whose change restarts pods, and when that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartStep<'a> {
    /// Its place in the order, from 1. Objects with the same place are applied at once.
    pub step: usize,
    /// The unit that applies it.
    pub unit: &'a UnitName,
    /// The object.
    pub object: &'a ObjectRef,
    /// How many pods; absent where only an operator or another controller knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<usize>,
    /// Which pods, in which order, and why.
    pub why: String,
}

impl Plan {
    /// Returns what restarts pods, in the order in which it begins: unit by unit, in a unit rank by rank. A step begins
    /// once everything before it is applied; it does not wait for the pods of the step before.
    pub fn restarts(&self) -> Vec<RestartStep<'_>> {
        steps(&self.actions)
    }
}

fn steps(actions: &[Action]) -> Vec<RestartStep<'_>> {
    let mut steps: Vec<RestartStep<'_>> = Vec::new();
    let mut place = None;
    let mut step = 0;
    for action in actions {
        let Some((why, pods)) = restart(action) else { continue };
        let here = Some((&action.unit, apply_rank(&action.object.kind)));
        if place != here {
            place = here;
            step += 1;
        }
        steps.push(RestartStep { step, unit: &action.unit, object: &action.object, pods, why });
    }
    steps
}

/// Joins what restarts because of one action; one part of unknown size makes the whole unknown.
fn restart(action: &Action) -> Option<(String, Option<usize>)> {
    let parts: Vec<(&str, Option<usize>)> = action
        .forecasts
        .iter()
        .filter_map(|forecast| match forecast {
            Forecast::Restart { why, pods } => Some((why.as_str(), *pods)),
            _ => None,
        })
        .collect();
    let why: Vec<&str> = parts.iter().map(|(why, _)| *why).collect();
    (!why.is_empty()).then(|| (why.join("; "), parts.iter().map(|(_, pods)| *pods).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupKind, Operation};

    fn action(unit: &str, kind: &str, name: &str, pods: &[Option<usize>]) -> Action {
        let object = ObjectRef {
            kind: GroupKind::from(kind.to_owned()),
            version: "v1".into(),
            namespace: Some("shop".into()),
            name: name.into(),
        };
        let restart = |pods: &Option<usize>| Forecast::Restart { why: format!("{pods:?}"), pods: *pods };
        let forecasts = pods.iter().map(restart).collect();
        Action { forecasts, ..Action::new(UnitName::new(unit).unwrap(), object, Operation::Update) }
    }

    #[test]
    fn what_is_applied_at_once_has_the_same_place() {
        let actions = [
            action("infra", "Database.example.com", "quiet", &[]),
            action("infra", "Database.example.com", "main", &[None, Some(1)]),
            action("infra", "Deployment.apps", "operator", &[Some(1)]),
            action("infra", "StatefulSet.apps", "broker", &[Some(3)]),
            action("shop", "StatefulSet.apps", "db", &[Some(2), Some(1)]),
        ];
        let got: Vec<(usize, &str, &str, Option<usize>)> = steps(&actions)
            .iter()
            .map(|step| (step.step, step.unit.as_str(), step.object.name.as_str(), step.pods))
            .collect();
        let want = [
            (1, "infra", "main", None),
            (2, "infra", "operator", Some(1)),
            (2, "infra", "broker", Some(3)),
            (3, "shop", "db", Some(3)),
        ];
        assert_eq!(got, want);
    }
}
