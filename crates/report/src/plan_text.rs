//! A plan for the terminal: verdict and counts, dangers first, then what is needed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use windlass_model::{Action, Operation, Plan, Preview, Provenance, Risk};

use crate::actions::{
    by_danger, change_line, conflict_line, counts_line, forecast_line, reversal_line, verdict,
};
use crate::{Palette, clean};

/// How much of a plan is shown.
#[derive(Debug, Clone, Copy)]
pub struct PlanText {
    /// Whether the plan is only a comparison: `drift` asks for no approval.
    pub drift: bool,
    /// Colour.
    pub palette: Palette,
    /// At most this many changed fields of an object.
    pub fields: usize,
    /// At most this many objects; deletions and problems are always shown.
    pub objects: usize,
}

/// Returns a plan as text.
pub fn plan_text(plan: &Plan, options: PlanText) -> String {
    let palette = options.palette;
    let mut out = String::new();
    let _ = writeln!(out, "{}", palette.strong(&title(plan, options.drift)));
    let _ = writeln!(out, "  {}: {}", painted_verdict(plan, options), counts_line(&plan.counts()));
    if !options.drift {
        let _ = writeln!(out, "  change digest {}", plan.change_digest());
    }
    let actions = by_danger(plan);
    let shown = |(position, action): &(usize, &&Action)| {
        *position < options.objects || action.operation == Operation::Prune || action.problem.is_some()
    };
    let visible: Vec<&Action> = actions.iter().enumerate().filter(shown).map(|(_, action)| *action).collect();
    let mut previous_was_short = false;
    for action in &visible {
        let lines = detail_lines(action, options);
        if !(previous_was_short && lines.is_empty()) {
            out.push('\n');
        }
        previous_was_short = lines.is_empty();
        headline(&mut out, action, palette);
        for line in lines {
            let _ = writeln!(out, "            {line}");
        }
    }
    if visible.len() < actions.len() {
        let _ = writeln!(
            out,
            "\n  {} of {} objects shown; the plan file holds all",
            visible.len(),
            actions.len()
        );
    }
    unverified(&mut out, plan, palette);
    closing(&mut out, plan, palette);
    out
}

/// Returns how much differs, on one line.
pub fn drift_line(plan: &Plan) -> String {
    format!("{}: {}", if plan.has_drift() { "DRIFT" } else { "no drift" }, counts_line(&plan.counts()))
}

/// Returns verdict and counts on one line.
pub fn plan_line(plan: &Plan) -> String {
    format!("{}: {}", verdict(plan), counts_line(&plan.counts()))
}

fn painted_verdict(plan: &Plan, options: PlanText) -> String {
    let palette = options.palette;
    if options.drift {
        return if plan.has_drift() { palette.bad("DRIFT") } else { palette.good("no drift") };
    }
    let text = verdict(plan);
    if !plan.is_executable() {
        palette.bad(&text)
    } else if plan.requirement.needed() {
        palette.warn(&text)
    } else {
        palette.good(&text)
    }
}

fn title(plan: &Plan, drift: bool) -> String {
    let what = if drift { "Drift" } else { "Plan" };
    let environment = plan.environment.as_ref().map(|name| format!(" for {name}")).unwrap_or_default();
    format!(
        "{what}{environment} on {} ({}): {}",
        clean(&plan.cluster.server),
        clean(&plan.cluster.version),
        source_line(&plan.source)
    )
}

/// Names the source of a plan on one line.
pub(crate) fn source_line(source: &Provenance) -> String {
    match source {
        Provenance::Verified(commit) => {
            format!("commit {} \"{}\"", commit.id().short(), clean(commit.subject()))
        }
        Provenance::Unsigned { what, .. } => format!("unsigned {}", clean(what)),
    }
}

fn headline(out: &mut String, action: &Action, palette: Palette) {
    let word = format!("{:<9}", action.operation.word());
    let word = match action.operation {
        _ if action.problem.is_some() => palette.bad(&word),
        Operation::Prune | Operation::Recreate => palette.bad(&word),
        Operation::Update | Operation::Adopt => palette.warn(&word),
        Operation::Create => palette.good(&word),
        Operation::Keep | Operation::NoOp => palette.dim(&word),
    };
    let origin =
        action.origin.as_ref().map(|origin| format!("  {}", clean(&origin.to_string()))).unwrap_or_default();
    let name = palette.strong(&clean(&action.object.to_string()));
    let _ = writeln!(out, "  {word} {name}{}", palette.dim(&origin));
}

fn detail_lines(action: &Action, options: PlanText) -> Vec<String> {
    let palette = options.palette;
    let mut lines = Vec::new();
    let mut line = |text: String| lines.push(text);
    if let Some(problem) = &action.problem {
        line(palette.bad(&clean(&problem.summary())));
        line(palette.hint(&format!("hint: {}", problem.hint())));
    }
    for forecast in &action.forecasts {
        let text = forecast_line(forecast);
        line(if action.risk >= Risk::Deletion { palette.bad(&text) } else { palette.warn(&text) });
    }
    if let Some(text) = reversal_line(action) {
        line(palette.warn(&text));
    }
    for change in action.delta.iter().take(options.fields) {
        line(change_line(change));
    }
    if action.delta.len() > options.fields {
        line(palette.dim(&format!("… and {} more fields", action.delta.len() - options.fields)));
    }
    action.takes_over.iter().for_each(|conflict| line(palette.warn(&conflict_line(conflict))));
    if let Preview::Not(why) = &action.preview {
        line(palette.warn(&format!("not previewable: {}", clean(why))));
    }
    action.warnings.iter().for_each(|warning| line(palette.warn(&format!("warning: {}", clean(warning)))));
    lines
}

/// Says once for all objects why the server could not be asked about them.
fn unverified(out: &mut String, plan: &Plan, palette: Palette) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for action in &plan.actions {
        if let Preview::Locally(why) = &action.preview {
            *reasons.entry(why).or_default() += 1;
        }
    }
    for (position, (why, count)) in reasons.into_iter().enumerate() {
        let gap = if position == 0 { "\n" } else { "" };
        let text = format!("{count} not yet verified by the server: {}", clean(why));
        let _ = writeln!(out, "{gap}  {}", palette.dim(&text));
    }
}

fn closing(out: &mut String, plan: &Plan, palette: Palette) {
    for refusal in &plan.refusals {
        let _ = writeln!(
            out,
            "\n  {} {}",
            palette.bad(&format!("refused by {}:", refusal.guard)),
            clean(&refusal.message)
        );
        let _ = writeln!(out, "  {}", palette.hint(&format!("hint: {}", clean(&refusal.hint))));
    }
    for warning in &plan.warnings {
        let _ = writeln!(out, "\n  {}", palette.warn(&format!("warning: {}", clean(warning))));
    }
    if plan.requirement.needed() && plan.has_changes() {
        let _ = writeln!(out, "\n  A human must approve because:");
        for reason in &plan.requirement.reasons {
            let _ = writeln!(out, "    - {}", clean(reason));
        }
    }
}
