//! A plan for the terminal: verdict and counts, dangers, then object by object.

use std::fmt::Write as _;

use windlass_model::Plan;

use crate::view::{BEFORE, Change, Line, ObjectView, Tone, View};
use crate::{Palette, clean, without_commands, yaml};

/// How much of a plan is shown.
#[derive(Debug, Clone, Copy)]
pub struct PlanText {
    /// Whether the plan is only a comparison: `drift` asks for no approval.
    pub drift: bool,
    /// Colour.
    pub palette: Palette,
    /// How the changes of an object are shown.
    pub diff: Diff,
    /// At most this many changed fields, or eight times as many lines of YAML, of an object.
    pub fields: usize,
    /// At most this many objects; deletions and problems are always shown.
    pub objects: usize,
}

/// How the changes of an object are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diff {
    /// Field by field, with paths.
    Fields,
    /// The whole object as YAML, line by line.
    Yaml,
}

/// Lines of YAML for each field that may be shown.
const LINES_A_FIELD: usize = 8;

/// Returns a plan as text.
pub fn plan_text(plan: &Plan, options: PlanText) -> String {
    let view = View::of(plan, options.drift);
    let palette = options.palette;
    let mut out = String::new();
    let _ = writeln!(out, "{}", palette.strong(&title(&view, plan)));
    if let Some(origin) = origin(&view) {
        let _ = writeln!(out, "  {}", palette.dim(&origin));
    }
    if let Some((name, value)) = view.facts.iter().find(|(name, _)| *name == BEFORE) {
        let _ = writeln!(out, "  {}", palette.dim(&format!("{name}: {value}")));
    }
    let _ = writeln!(out, "  {}: {}", painted(palette, &view.verdict), view.counts_line());
    if let Some(consequence) = view.consequence {
        let _ = writeln!(out, "  {consequence}");
    }
    if let Some(toll) = &view.toll {
        let _ = writeln!(out, "  altogether {}", painted(palette, toll));
    }
    if let Some(undo) = &view.undo {
        let _ = writeln!(out, "  {}", painted(palette, undo));
    }
    if let Some(digest) = &view.digest {
        let _ = writeln!(out, "  change digest {digest}");
    }
    dangers(&mut out, &view, palette);
    objects(&mut out, &view, options);
    closing(&mut out, &view, palette);
    without_commands(&out)
}

/// Names what is planned, where, and from which commit.
fn title(view: &View<'_>, plan: &Plan) -> String {
    let (server, version) = (clean(&plan.cluster.server), clean(&plan.cluster.version));
    let source = view.facts.first().map(|(name, value)| match *name {
        "source" => value.clone(),
        name => format!("{name} {value}"),
    });
    format!("{} on {server} ({version}): {}", view.title, source.unwrap_or_default())
}

/// Says who wrote and who signed what is planned.
fn origin(view: &View<'_>) -> Option<String> {
    let wanted = ["author", "signed by", "branch", "rollback"];
    let facts = view.facts.iter().filter(|(name, _)| wanted.contains(name));
    let told: Vec<String> = facts.map(|(name, value)| format!("{name} {value}")).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn painted(palette: Palette, line: &Line) -> String {
    paint(palette, line.tone(), line.text())
}

fn paint(palette: Palette, tone: Tone, text: &str) -> String {
    match tone {
        Tone::Plain => text.to_owned(),
        Tone::Added => palette.good(text),
        Tone::Removed | Tone::Danger => palette.bad(text),
        Tone::Changed | Tone::Warning => palette.warn(text),
        Tone::Hint => palette.hint(text),
        Tone::Dim => palette.dim(text),
    }
}

fn dangers(out: &mut String, view: &View<'_>, palette: Palette) {
    if !view.dangers.is_empty() {
        out.push('\n');
    }
    for danger in &view.dangers {
        let count = danger.findings.len();
        let heading = format!("{} ({count})", danger.heading);
        let _ = writeln!(out, "  {}", paint(palette, danger.tone, &heading));
        for finding in &danger.findings {
            let _ = writeln!(out, "    {} {}", danger.tone.sign(), finding.text.text());
            if let Some(hint) = &finding.hint {
                let _ = writeln!(out, "      {}", palette.hint(&format!("hint: {}", hint.text())));
            }
        }
    }
}

fn objects(out: &mut String, view: &View<'_>, options: PlanText) {
    let visible: Vec<&ObjectView<'_>> = view
        .objects
        .iter()
        .enumerate()
        .filter(|(position, object)| *position < options.objects || object.is_grave())
        .map(|(_, object)| object)
        .collect();
    if visible.len() > 1 {
        let _ = writeln!(
            out,
            "\n  {}",
            options.palette.dim("Objects, the most dangerous first (not the order of applying):")
        );
    }
    let mut previous_was_short = false;
    for object in &visible {
        let lines = details(object, options);
        if !(previous_was_short && lines.is_empty()) {
            out.push('\n');
        }
        previous_was_short = lines.is_empty();
        headline(out, object, options.palette);
        for line in lines {
            let _ = writeln!(out, "            {line}");
        }
    }
    if visible.len() < view.objects.len() {
        let text = format!(
            "{} of {} objects shown; --out writes the whole plan as plan.txt, plan.html and plan.json",
            visible.len(),
            view.objects.len()
        );
        let _ = writeln!(out, "\n  {}", options.palette.warn(&text));
    }
}

fn headline(out: &mut String, object: &ObjectView<'_>, palette: Palette) {
    let word = paint(palette, object.tone(), &format!("{:<9}", object.word()));
    let name = palette.strong(&object.full_name());
    let origin = object.origin.as_ref().map(|origin| palette.dim(&format!("  {origin}"))).unwrap_or_default();
    let _ = writeln!(out, "  {word} {name}{origin}");
}

fn details(object: &ObjectView<'_>, options: PlanText) -> Vec<String> {
    let palette = options.palette;
    let mut lines = Vec::new();
    for note in &object.notes {
        let text =
            if note.tone() == Tone::Hint { format!("hint: {}", note.text()) } else { note.text().to_owned() };
        lines.push(paint(palette, note.tone(), &text));
    }
    let diff = match options.diff {
        Diff::Fields => Vec::new(),
        Diff::Yaml => yaml::unified(&object.action.bodies, options.fields.saturating_mul(LINES_A_FIELD)),
    };
    lines.extend(diff.iter().map(|line| paint(palette, line.tone(), &line.signed())));
    // What only a Secret's values tell apart looks the same as YAML.
    if diff.is_empty() {
        lines.extend(
            object.changes.iter().take(options.fields).flat_map(|change| change_lines(change, palette)),
        );
        if let more @ 1.. = object.changes.len().saturating_sub(options.fields) {
            lines.push(palette.dim(&format!("… and {more} more fields")));
        }
    }
    for remark in &object.remarks {
        lines.push(painted(palette, &remark.head));
        lines.extend(remark.body.iter().map(|line| painted(palette, line)));
    }
    lines
}

/// Only the sign is coloured where a value stands beside its path: two colours a line are enough.
fn change_lines(change: &Change, palette: Palette) -> Vec<String> {
    let head = &change.head;
    let first = format!("{} {}", paint(palette, head.tone(), &head.tone().sign().to_string()), head.text());
    let body = change.body.iter().map(|line| paint(palette, line.tone(), &line.signed()));
    std::iter::once(first).chain(body).collect()
}

fn closing(out: &mut String, view: &View<'_>, palette: Palette) {
    for (position, text) in view.unverified.iter().enumerate() {
        let gap = if position == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}  {}", palette.warn(text));
    }
    for warning in &view.warnings {
        let _ = writeln!(out, "\n  {}", palette.warn(&format!("warning: {warning}")));
    }
    if !view.reasons.is_empty() {
        let _ = writeln!(out, "\n  {}:", view.asks);
        for reason in &view.reasons {
            let _ = writeln!(out, "    - {reason}");
        }
        let _ = writeln!(out, "  {}", palette.dim(&view.approving));
    }
}
