//! What the environment file says against a whole plan: freezes and rules.

use cel::{Context, Program, Value};
use windlass_model::{Plan, Refusal};
use windlass_settings::{Guards, PlanRule};

use crate::refusal::Guard;

/// Returns why a plan may not be carried out at the time it was made, by the freezes of the environment file. A plan
/// that changes nothing is never frozen.
pub fn freezes(plan: &Plan, guards: &Guards) -> Vec<Refusal> {
    if !plan.has_changes() {
        return Vec::new();
    }
    let rollback = plan.rollback.is_some();
    let in_force = guards
        .freezes
        .iter()
        .filter(|freeze| !(rollback && freeze.allow_rollback) && freeze.covers(plan.created_at));
    in_force
        .map(|freeze| {
            let message = format!("frozen until {}: {} ({})", freeze.end(), freeze.name, freeze.reason);
            Guard::Freeze.refuses(
                message,
                "run again after the freeze, or change `guards.freezes` in the environment file",
            )
        })
        .collect()
}

/// Returns why a plan may not be carried out, by the rules of the environment file (CEL over the plan's JSON).
pub fn rules(plan: &Plan, guards: &Guards) -> Vec<Refusal> {
    if guards.rules.is_empty() {
        return Vec::new();
    }
    let document = plan.to_json();
    let mut context = Context::default();
    let given = context.add_variable("plan", &document).map_err(|error| error.to_string()).and_then(|()| {
        let moment =
            Program::compile(&format!("timestamp('{}')", plan.created_at)).map_err(|e| e.to_string())?;
        let now = moment.execute(&context).map_err(|error| error.to_string())?;
        context.add_variable_from_value("now", now);
        Ok(())
    });
    guards
        .rules
        .iter()
        .filter_map(|rule| judge(rule, given.clone().and_then(|()| evaluate(&rule.deny, &context))))
        .collect()
}

fn evaluate(expression: &str, context: &Context<'_, '_>) -> Result<bool, String> {
    let program = Program::compile(expression).map_err(|errors| errors.to_string().replace('\n', " "))?;
    match program.execute(context) {
        Ok(Value::Bool(answer)) => Ok(answer),
        Ok(other) => Err(format!("it gives {}, not true or false", other.type_of())),
        Err(error) => Err(error.to_string()),
    }
}

/// A rule that cannot be computed refuses: what it was written to prevent may be just what happens.
fn judge(rule: &PlanRule, answer: Result<bool, String>) -> Option<Refusal> {
    match answer {
        Ok(false) => None,
        Ok(true) => Some(Guard::Rule.refuses(
            format!("{}: {}", rule.name, rule.message),
            "deliver what the rule allows, or change `guards.rules` in the environment file",
        )),
        Err(problem) => Some(Guard::Rule.refuses(
            format!("{}: the rule cannot be computed: {problem}", rule.name),
            "correct `guards.rules` in the environment file; `has(a.field)` tells whether a field is there",
        )),
    }
}
