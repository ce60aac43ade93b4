//! A recipe as lines: what is down, what becomes of data, step by step, or the other way.

use windlass_model::{Recipe, RecipeStep};

use super::line::{Line, Tone};

/// Returns a recipe line by line.
pub(super) fn lines(recipe: &Recipe) -> Vec<Line> {
    let Recipe { down, data, data_at_risk, steps, instead } = recipe;
    let risk = if *data_at_risk { Tone::Danger } else { Tone::Plain };
    let mut lines = vec![
        Line::new(Tone::Plain, format!("down meanwhile: {down}")),
        Line::new(risk, format!("data: {data}")),
    ];
    lines.extend(steps.iter().enumerate().map(|(position, step)| numbered(position + 1, step)));
    lines.extend(instead.iter().map(|instead| {
        let word = if steps.is_empty() { "do" } else { "or" };
        Line::new(Tone::Plain, format!("{word}: {instead}"))
    }));
    lines
}

fn numbered(number: usize, step: &RecipeStep) -> Line {
    let command = step.command.as_ref().map(|command| format!(": {command}")).unwrap_or_default();
    Line::new(Tone::Plain, format!("{number}. {}{command}", step.text))
}
