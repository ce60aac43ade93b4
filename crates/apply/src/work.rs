//! Pairing a plan with the rendering it is the plan of.

use std::collections::BTreeMap;

use windlass_model::{Action, Object, Operation, Plan, Rendering, Unit, apply_rank};

use crate::applied::{Key, key};
use crate::{ApplyError, Context};

/// One unit's part of the work.
pub(crate) struct Work<'a> {
    pub(crate) unit: &'a Unit,
    /// Every object of the unit, in the order of their ranks.
    pub(crate) steps: Vec<Step<'a>>,
}

/// One object and what the plan says about it.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) object: &'a Object,
    pub(crate) action: &'a Action,
}

impl Step<'_> {
    /// Returns the object as it is sent, without the label of its set.
    pub(crate) fn outgoing(&self) -> &Object {
        self.action.sent.as_ref().unwrap_or(self.object)
    }

    /// Returns the uid that the object must have, or `None` if there must be no object.
    pub(crate) fn uid(&self) -> Option<&str> {
        match self.action.operation {
            Operation::Create => None,
            _ => self.action.live.as_ref().map(|live| live.uid.as_str()),
        }
    }
}

impl<'a> Work<'a> {
    /// Returns the steps that write, rank by rank.
    pub(crate) fn ranks(&self) -> Vec<Vec<Step<'a>>> {
        let mut ranks: BTreeMap<u8, Vec<Step<'a>>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.action.operation.writes()) {
            ranks.entry(apply_rank(&step.action.object.kind)).or_default().push(*step);
        }
        ranks.into_values().collect()
    }
}

/// Pairs each rendered object with its action.
///
/// # Errors
/// The plan may not be carried out, or is not exactly the plan of this rendering in this environment.
pub(crate) fn pair<'a>(
    plan: &'a Plan,
    rendering: &'a Rendering,
    context: &Context<'_>,
) -> Result<Vec<Work<'a>>, ApplyError> {
    fits(plan, rendering, context)?;
    let mut actions: BTreeMap<Key, &Action> = BTreeMap::new();
    for action in &plan.actions {
        if !matches!(action.operation, Operation::Prune | Operation::Keep)
            && actions.insert(key(&action.object), action).is_some()
        {
            return Err(mismatch(format!("{} has two actions", action.object)));
        }
    }
    let mut work = Vec::with_capacity(rendering.units.len());
    for unit in &rendering.units {
        let mut steps = Vec::with_capacity(unit.objects.len());
        for object in &unit.objects {
            let action = actions
                .remove(&key(object.reference()))
                .ok_or_else(|| mismatch(format!("{} has no action of its own", object.reference())))?;
            steps.push(step(unit, object, action)?);
        }
        work.push(Work { unit, steps });
    }
    match actions.into_values().next() {
        Some(action) => Err(mismatch(format!("{} is planned but not rendered", action.object))),
        None => Ok(work),
    }
}

fn fits(plan: &Plan, rendering: &Rendering, context: &Context<'_>) -> Result<(), ApplyError> {
    if let Some(refusal) = plan.refusals.first() {
        return Err(ApplyError::NotExecutable { reason: format!("{}: {}", refusal.guard, refusal.message) });
    }
    let problem = plan.actions.iter().find_map(|action| Some((&action.object, action.problem.as_ref()?)));
    if let Some((object, problem)) = problem {
        return Err(ApplyError::NotExecutable { reason: format!("{object}: {}", problem.summary()) });
    }
    if plan.rendering != rendering.digest {
        return Err(mismatch("the digests of the rendered objects differ".to_owned()));
    }
    if plan.environment.as_ref() != Some(context.environment) {
        return Err(mismatch(format!("the plan is not for environment `{}`", context.environment)));
    }
    Ok(())
}

fn step<'a>(unit: &Unit, object: &'a Object, action: &'a Action) -> Result<Step<'a>, ApplyError> {
    let name = object.reference();
    if action.unit != unit.name {
        return Err(mismatch(format!(
            "{name} is planned for unit `{}`, not for `{}`",
            action.unit, unit.name
        )));
    }
    match action.operation {
        Operation::Recreate => {
            Err(ApplyError::NotExecutable { reason: format!("{name} would have to be created anew") })
        }
        Operation::Create if action.live.is_some() => {
            Err(mismatch(format!("{name} is to be created and exists")))
        }
        Operation::Create => Ok(Step { object, action }),
        _ if action.live.is_none() => Err(mismatch(format!("{name} is to exist and has no uid"))),
        _ => Ok(Step { object, action }),
    }
}

fn mismatch(what: String) -> ApplyError {
    ApplyError::Mismatch { what }
}
