//! A plan as Markdown, for the summaries of GitHub and Azure jobs.
//!
//! GitHub drops a whole summary that is over one mebibyte (facts: runner source, checked before masking), so the
//! budget is 900 KiB at most. An object is shown whole or only named. Where even the names of dangers and deletions do not
//! fit, names are all that is left, deletions first, and what has no room is counted at the top.

mod dense;
mod escape;
mod pack;

use std::fmt::Write as _;

use windlass_model::{Plan, Risk};

use crate::actions::capital;
use crate::view::{Change, Danger, Line, ObjectView, Tone, View};
use crate::{clean, without_commands};
use escape::{code, fence_for, html};
use pack::{Piece, pack};

/// How a plan is written as Markdown.
#[derive(Debug, Clone, Copy)]
pub struct PlanMarkdown<'a> {
    /// Whether the plan is only a comparison: `drift` asks for no approval.
    pub drift: bool,
    /// At most this many bytes; [`PlanMarkdown::BUDGET`] where nothing else takes room.
    pub budget: usize,
    /// Where the whole plan lies, such as a folder of the agent.
    pub whereabouts: Option<&'a str>,
}

impl PlanMarkdown<'_> {
    /// What a job summary has room for: GitHub allows one mebibyte a step.
    pub const BUDGET: usize = 900 * 1024;
}

/// Returns a plan as Markdown.
pub fn plan_markdown(plan: &Plan, options: PlanMarkdown<'_>) -> String {
    let view = View::of(plan, options.drift);
    let head = head(&view);
    let foot = foot(&view);
    let pieces = pieces(&view);
    // The sentence about what is missing needs room too.
    let spare = 512 + options.whereabouts.map_or(0, str::len);
    let packed = pack(&pieces, options.budget.saturating_sub(head.len() + foot.len() + spare));
    let mut out = head;
    out.push_str(&packed.text);
    if packed.named + packed.left_out > 0 {
        let _ = writeln!(out, "\n**{}**\n", missing(&packed, options.whereabouts));
    }
    out.push_str(&foot);
    if out.len() > options.budget {
        out = dense::summary(&view, &whole_plan(options.whereabouts), options.budget);
    }
    without_commands(&out)
}

/// Says where the whole plan is.
fn whole_plan(whereabouts: Option<&str>) -> String {
    whereabouts.map_or_else(
        || "`windlass plan --out DIR` writes the whole plan.".to_owned(),
        |place| format!("The whole plan: {}", code(&clean(place))),
    )
}

fn missing(packed: &pack::Packed, whereabouts: Option<&str>) -> String {
    let left_out = match packed.left_out {
        0 => String::new(),
        count => format!(" and {count} are left out"),
    };
    format!(
        "This summary has room for {} objects in full; {} are only named{left_out}. {}",
        packed.whole,
        packed.named,
        whole_plan(whereabouts)
    )
}

fn head(view: &View<'_>) -> String {
    let mut out = String::new();
    let mark = match view.verdict.tone() {
        Tone::Danger => "🛑",
        Tone::Warning => "✋",
        _ => "✅",
    };
    let _ = writeln!(out, "## Windlass: {} — {mark} {}\n", view.title, view.verdict.text());
    if let Some(consequence) = view.consequence {
        let _ = writeln!(out, "{consequence}\n");
    }
    let _ = writeln!(out, "**{}**\n", view.counts_line());
    if let Some(toll) = &view.toll {
        let _ = writeln!(out, "Altogether {}\n", toll.text());
    }
    if let Some(undo) = &view.undo {
        let _ = writeln!(out, "{}\n", capital(undo.text()));
    }
    for (name, value) in &view.facts {
        let _ = writeln!(out, "- {name} {}", code(value));
    }
    if let Some(digest) = &view.digest {
        let _ = writeln!(out, "- change digest {}", code(digest));
    }
    out.push('\n');
    out
}

/// Everything that can be shown whole or only named, the most important first.
fn pieces(view: &View<'_>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> =
        view.dangers.iter().flat_map(|danger| danger_pieces(danger, &view.objects)).collect();
    if !view.objects.is_empty() {
        pieces.push(Piece::fixed(
            "\n### Objects\n\nThe most dangerous first; this is not the order of applying.\n\n".to_owned(),
        ));
    }
    pieces.extend(view.objects.iter().map(object_piece));
    pieces
}

fn danger_pieces(danger: &Danger, objects: &[ObjectView<'_>]) -> Vec<Piece> {
    let heading = format!("\n**{} ({})**\n\n", danger.heading, danger.findings.len());
    let finding = danger.findings.iter().map(|finding| {
        let hint =
            finding.hint.as_ref().map(|hint| format!("  \n  → {}", code(hint.text()))).unwrap_or_default();
        let whole = format!("- {}{hint}\n", code(finding.text.text()));
        let named = finding
            .object
            .and_then(|position| objects.get(position))
            .map_or_else(|| whole.clone(), |object| format!("- {}\n", code(&object.full_name())));
        Piece { whole, named, grave: true, in_place: true }
    });
    std::iter::once(Piece::fixed(heading)).chain(finding).collect()
}

fn object_piece(object: &ObjectView<'_>) -> Piece {
    let body = block(object);
    let name = format!("<b>{}</b> <code>{}</code>", object.word(), html(&object.full_name()));
    // A path is anybody's text. Outside of an HTML block only a code span keeps it from linking.
    let origin = |escaped: fn(&str) -> String| {
        object.origin.as_ref().map(|origin| format!(" · {}", escaped(origin))).unwrap_or_default()
    };
    let whole = if body.is_empty() {
        format!("{name}{}<br>\n", origin(code))
    } else {
        let fence = fence_for(&body);
        let open = if object.is_grave() || object.action.risk >= Risk::Restart { " open" } else { "" };
        format!(
            "<details{open}><summary>{name}{}</summary>\n\n{fence}diff\n{body}{fence}\n\n</details>\n\n",
            origin(html_code)
        )
    };
    let named = format!("- {} {}\n", object.word(), code(&object.full_name()));
    // What is grave stands among the dangers already.
    Piece { whole, named, grave: false, in_place: false }
}

fn html_code(text: &str) -> String {
    format!("<code>{}</code>", html(text))
}

fn block(object: &ObjectView<'_>) -> String {
    let mut body = String::new();
    let mut line = |line: &Line| {
        let _ = writeln!(body, "{}", line.signed());
    };
    object.notes.iter().for_each(&mut line);
    for Change { head, body } in object.changes.iter().chain(&object.remarks) {
        line(head);
        body.iter().for_each(&mut line);
    }
    body
}

fn foot(view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.reasons.is_empty() {
        let _ = writeln!(out, "\n### {}\n", view.asks);
        for reason in &view.reasons {
            let _ = writeln!(out, "- {}", code(reason));
        }
        let _ = writeln!(out, "\n{}", code(&view.approving));
    }
    for text in &view.unverified {
        let _ = writeln!(out, "\n{}", code(text));
    }
    for warning in &view.warnings {
        let _ = writeln!(out, "\n*Warning:* {}", code(warning));
    }
    out
}
