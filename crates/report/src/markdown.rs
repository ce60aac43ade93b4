//! A plan as Markdown, for the summaries of GitHub and Azure jobs.
//!
//! GitHub drops a whole summary that is over one mebibyte, so the budget is 900 KiB; objects are packed
//! whole, and deletions and problems are never cut because they come first.

use std::fmt::Write as _;

use windlass_model::{Action, Plan};

use crate::actions::{
    by_danger, change_line, conflict_line, counts_line, forecast_line, reversal_line, verdict,
};
use crate::clean;
use crate::plan_text::source_line;

const BUDGET: usize = 900 * 1024;

/// Returns a plan as Markdown of at most 900 KiB.
pub fn plan_markdown(plan: &Plan) -> String {
    let mut out = header(plan);
    let footer = footer(plan);
    let actions = by_danger(plan);
    let mut shown = 0;
    for action in &actions {
        let block = action_block(action);
        if out.len() + block.len() + footer.len() + 200 > BUDGET {
            break;
        }
        out.push_str(&block);
        shown += 1;
    }
    if shown < actions.len() {
        let _ = writeln!(out, "\n**{shown} of {} objects shown.** The plan file holds all.\n", actions.len());
    }
    out.push_str(&footer);
    out
}

fn header(plan: &Plan) -> String {
    let environment = plan.environment.as_ref().map(|name| format!(" for `{name}`")).unwrap_or_default();
    let mut out = String::new();
    let _ = writeln!(out, "## Windlass plan{environment}: {}\n", verdict(plan));
    let _ = writeln!(out, "**{}**\n", counts_line(&plan.counts()));
    let _ = writeln!(out, "| | |\n|---|---|");
    let _ = writeln!(out, "| source | {} |", code(&source_line(&plan.source)));
    let _ = writeln!(out, "| cluster | {} |", code(&plan.cluster.server));
    let _ = writeln!(out, "| change digest | `{}` |\n", plan.change_digest());
    for refusal in &plan.refusals {
        let _ = writeln!(
            out,
            "> **Refused by `{}`:** {}  \n> {}\n",
            refusal.guard,
            code(&refusal.message),
            code(&refusal.hint)
        );
    }
    out
}

fn action_block(action: &Action) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        action.problem.iter().map(|problem| format!("! {} ({})", clean(&problem.summary()), problem.hint())),
    );
    lines.extend(action.forecasts.iter().map(|forecast| format!("! {}", forecast_line(forecast))));
    lines.extend(reversal_line(action).map(|line| format!("! {line}")));
    lines.extend(action.delta.iter().map(change_line));
    lines.extend(action.takes_over.iter().map(conflict_line));
    lines.extend(action.warnings.iter().map(|warning| format!("warning: {}", clean(warning))));
    let body = if lines.is_empty() { "no field-level detail".to_owned() } else { lines.join("\n") };
    let fence = fence_for(&body);
    format!(
        "<details><summary><b>{}</b> {}</summary>\n\n{fence}diff\n{body}\n{fence}\n\n</details>\n\n",
        action.operation.word(),
        html(&clean(&action.object.to_string())),
    )
}

fn footer(plan: &Plan) -> String {
    let mut out = String::new();
    if plan.requirement.needed() && plan.has_changes() {
        let _ = writeln!(out, "\n### A human must approve\n");
        for reason in &plan.requirement.reasons {
            let _ = writeln!(out, "- {}", code(reason));
        }
    }
    for warning in &plan.warnings {
        let _ = writeln!(out, "\n*Warning:* {}", code(warning));
    }
    out
}

/// Sets untrusted text as code that it cannot break out of, in a table cell too.
fn code(text: &str) -> String {
    let text = clean(text).replace('|', "¦");
    let longest = longest_run(&text, '`');
    let ticks = "`".repeat(longest + 1);
    if longest == 0 { format!("`{text}`") } else { format!("{ticks} {text} {ticks}") }
}

/// Returns a fence that is longer than any run of backticks in the text.
fn fence_for(text: &str) -> String {
    "`".repeat(longest_run(text, '`').max(2) + 1)
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for character in text.chars() {
        current = if character == wanted { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_break_out() {
        assert_eq!(code("a|b"), "`a¦b`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(fence_for("x\n````\ny"), "`````");
        assert_eq!(html("<img src=x>"), "&lt;img src=x&gt;");
    }
}
