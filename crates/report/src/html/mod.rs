//! A plan as one HTML page that needs nothing else: no network, no fonts, and no script to be complete.
//!
//! Texts are escaped by the template engine; only the style and the script, which are ours, are put in as they are.
//! The page's own policy allows exactly those two, by their digests, so that even a hole would let nothing act.

mod object;
mod prose;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use windlass_model::{Operation, Plan};

use crate::actions::capital;
use crate::view::{Danger, Tone, View};
use crate::without_commands;
use prose::prose;

const STYLE: &str = include_str!("style.css");
/// A list that is longer scrolls inside its card.
const LONG: usize = 20;
const SCRIPT: &str = include_str!("script.js");

/// Returns a plan as an HTML page; `drift` compares only, so nobody is asked for anything.
pub fn plan_html(plan: &Plan, drift: bool) -> String {
    let view = View::of(plan, drift);
    without_commands(&page(&view, plan).into_string())
}

fn page(view: &View<'_>, plan: &Plan) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (view.title) ": " (view.verdict.text()) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (header(view))
                    (dangers(view))
                    (approval(view))
                    (remarks(view))
                    (objects(view))
                    (unchanged(view))
                    footer { "Made by " (plan.tool) ". " code { "plan.json" } " holds the plan for tools, without the manifests. Secret values are masked in both." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Allows this page's own style and script, and nothing else.
fn policy() -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

fn header(view: &View<'_>) -> Markup {
    html! {
        header {
            h1 { "Windlass · " (view.title) }
            p class={ "verdict " (class(view.verdict.tone())) } { (view.verdict.text()) }
            @if let Some(consequence) = view.consequence { p { (consequence) } }
            p.counts { (view.counts_line()) }
            @if let Some(toll) = &view.toll { p.(format!("toll {}", class(toll.tone()))) { "Altogether " (toll.text()) } }
            @if let Some(undo) = &view.undo { p.undo { (capital(undo.text())) } }
            dl {
                @for (name, value) in &view.facts { dt { (name) } dd { (value) } }
                @if let Some(digest) = &view.digest { dt { "change digest" } dd.mono { (digest) } }
            }
        }
    }
}

/// What is listed; the style hides what is not ticked. It changes the view alone, so it stands beside the list.
fn switches(view: &View<'_>) -> Markup {
    html! {
        fieldset.switches {
            legend { "Show" }
            @for (operation, ..) in &view.counts {
                label { input type="checkbox" checked id={ "show-" (operation.word()) }; (operation.word()) }
            }
        }
    }
}

fn dangers(view: &View<'_>) -> Markup {
    html! {
        @if !view.dangers.is_empty() {
            h2 { "Look at this first" }
            @for danger in &view.dangers { (danger_card(danger)) }
        }
    }
}

fn danger_card(danger: &Danger) -> Markup {
    html! {
        section class={ "card " (class(danger.tone)) } {
            h3 { (danger.heading) " (" (danger.findings.len()) ")" }
            // A long list scrolls, and scrolling needs no mouse.
            ul.long[danger.findings.len() > LONG] tabindex=[(danger.findings.len() > LONG).then_some("0")] {
                @for finding in &danger.findings {
                    li {
                        @match finding.object {
                            Some(position) => a href={ "#o" (position) } { (prose(finding.text.text())) },
                            None => (prose(finding.text.text())),
                        }
                        @if let Some(hint) = &finding.hint { div.hint { "→ " (prose(hint.text())) } }
                    }
                }
            }
        }
    }
}

fn approval(view: &View<'_>) -> Markup {
    html! {
        @if !view.reasons.is_empty() {
            section.card {
                h3 { (view.asks) }
                ul { @for reason in &view.reasons { li { (prose(reason)) } } }
                p.faint { (prose(&view.approving)) }
            }
        }
    }
}

fn remarks(view: &View<'_>) -> Markup {
    html! {
        @if !view.warnings.is_empty() || !view.unverified.is_empty() {
            section.card.warning {
                h3 { "Not certain" }
                ul {
                    @for warning in &view.warnings { li { (prose(warning)) } }
                    @for text in &view.unverified { li { (prose(text)) } }
                }
            }
        }
    }
}

fn objects(view: &View<'_>) -> Markup {
    html! {
        @if !view.objects.is_empty() {
            h2 #objects { "Objects " small { (view.objects.len()) ", the most dangerous first; not the order of applying" } }
            (switches(view))
            div.tools #tools hidden {
                input type="search" #find placeholder="Find by name, kind, unit, field or value" aria-label="Find objects";
                button type="button" #unfold { "Unfold all" }
                button type="button" #fold { "Fold all" }
                span.faint #told role="status" {}
            }
            @for (position, object) in view.objects.iter().enumerate() { (object::row(position, object)) }
        }
    }
}

fn unchanged(view: &View<'_>) -> Markup {
    html! {
        @if !view.unchanged.is_empty() {
            section.(format!("op-{}", Operation::NoOp.word())) {
                h2 { "Unchanged " small { (view.unchanged.len()) } }
                details.names {
                    summary { "All names" }
                    div.columns { @for name in &view.unchanged { span { (name) } } }
                }
            }
        }
    }
}

/// Returns the style's name of a tone.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Added => "added",
        Tone::Removed => "removed",
        Tone::Changed => "changed",
        Tone::Danger => "danger",
        Tone::Warning => "warning",
        Tone::Hint => "hint",
        Tone::Dim => "dim",
    }
}
