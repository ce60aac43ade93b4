//! What evaluating a rule says.

use cel::{Context, ExecutionError, Value};

use super::{Rule, library};

/// How a rule ends.
pub(super) enum Outcome {
    Holds,
    Fails,
    /// The server would not get through it either, and refuses the object.
    Breaks(String),
    /// It needs what is missing here.
    Undecided(String),
}

pub(super) fn of(rule: &Rule, scope: &Context<'_, '_>) -> Outcome {
    let Some(program) = &rule.program else {
        return Outcome::Undecided("it cannot be parsed here".to_owned());
    };
    match program.execute(scope) {
        Ok(Value::Bool(true)) => Outcome::Holds,
        Ok(Value::Bool(false)) => Outcome::Fails,
        Ok(_) => Outcome::Undecided("it does not say yes or no here".to_owned()),
        Err(ExecutionError::NoSuchKey(key)) => Outcome::Breaks(format!("no such key: {key}")),
        Err(ExecutionError::IndexOutOfBounds(_)) => Outcome::Breaks("index out of bounds".to_owned()),
        Err(ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_)) => {
            Outcome::Breaks("division by zero".to_owned())
        }
        Err(ExecutionError::UndeclaredReference(name)) => {
            Outcome::Undecided(format!("`{name}` is not known here"))
        }
        Err(error) if library::failure(&error).is_some() => {
            Outcome::Breaks(library::failure(&error).unwrap_or_default().to_owned())
        }
        // The words of other errors repeat values.
        Err(_) => Outcome::Undecided("it uses what is not known here".to_owned()),
    }
}

/// Returns what the author of a rule that fails wants said.
pub(super) fn message(rule: &Rule, scope: &Context<'_, '_>) -> String {
    if let Some(program) = &rule.message_program
        && let Ok(Value::String(text)) = program.execute(scope)
        && !text.trim().is_empty()
        && !text.contains('\n')
    {
        return text.trim().to_owned();
    }
    rule.message.clone().unwrap_or_else(|| format!("failed rule: {}", rule.text))
}
