//! One object of the page: a line that unfolds.

use maud::{Markup, html};
use windlass_model::Risk;

use super::class;
use super::prose::prose;
use crate::actions::is_loss;
use crate::view::{Change, Line, ObjectView, Tone};
use crate::yaml;

/// At most this many lines of YAML for one object.
const YAML_LINES: usize = 400;

/// Returns one object; `position` makes the name that links use.
pub(super) fn row(position: usize, object: &ObjectView<'_>) -> Markup {
    let yaml = yaml::unified(&object.action.bodies, YAML_LINES);
    let id = format!("o{position}");
    let classes = format!("object op-{}", object.word());
    let is_empty =
        object.notes.is_empty() && object.changes.is_empty() && object.remarks.is_empty() && yaml.is_empty();
    html! {
        @if is_empty {
            div id=(id) class=(classes) { div.row { (headline(object)) } }
        } @else {
            details id=(id) class=(classes) {
                summary { (headline(object)) }
                div.inside {
                    @for note in &object.notes { (paragraph(note)) }
                    @if !object.changes.is_empty() { (changes(&object.changes)) }
                    @for remark in &object.remarks {
                        (paragraph(&remark.head))
                        @if !remark.body.is_empty() { pre { (lines(&remark.body)) } }
                    }
                    @if !yaml.is_empty() {
                        details { summary { "YAML" } pre { (lines(&yaml)) } }
                    }
                }
            }
        }
    }
}

fn headline(object: &ObjectView<'_>) -> Markup {
    html! {
        span class={ "word " (class(object.tone())) } { (object.word()) }
        span.kind { (object.kind) }
        span.name { (object.name) }
        @if let Some((word, tone)) = risk(object) { span class={ "risk " (class(tone)) } { (word) } }
        span.side {
            (object.action.unit.as_str())
            @if let Some(origin) = &object.origin { " · " (origin) }
        }
    }
}

/// Routine is not worth a word.
fn risk(object: &ObjectView<'_>) -> Option<(&'static str, Tone)> {
    match object.action.risk {
        Risk::None | Risk::Routine => None,
        Risk::Restart => Some(("restarts pods", Tone::Warning)),
        Risk::Access => Some(("access", Tone::Warning)),
        Risk::Definition => Some(("definition", Tone::Warning)),
        Risk::Deletion => Some(("deletion", Tone::Danger)),
        Risk::Data if object.action.forecasts.iter().any(is_loss) => Some(("destroys data", Tone::Danger)),
        Risk::Data => Some(("holds data", Tone::Warning)),
    }
}

fn paragraph(line: &Line) -> Markup {
    let sign = if line.tone() == Tone::Hint { "→ " } else { "" };
    html! { p class=(class(line.tone())) { (sign) (prose(line.text())) } }
}

fn changes(changes: &[Change]) -> Markup {
    html! {
        pre {
            @for (position, change) in changes.iter().enumerate() {
                @if position > 0 { "\n" }
                (line(&change.head))
                @if !change.body.is_empty() { "\n" (lines(&change.body)) }
            }
        }
    }
}

/// Lines of one tone stand in one element: a page of ten thousand objects has enough of them.
fn lines(all: &[Line]) -> Markup {
    let runs = all.chunk_by(|left, right| left.tone() == right.tone());
    html! {
        @for (position, run) in runs.enumerate() {
            @if position > 0 { "\n" }
            @let text = run.iter().map(Line::signed).collect::<Vec<_>>().join("\n");
            @match run.first().map(Line::tone) {
                None | Some(Tone::Plain) => (text),
                Some(tone) => span class=(class(tone)) { (text) },
            }
        }
    }
}

fn line(line: &Line) -> Markup {
    lines(std::slice::from_ref(line))
}
