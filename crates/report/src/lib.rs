//! Turns events and plans into text, Markdown and JSON: the only code that formats for people.
//!
//! Everything that comes from a repository or a cluster passes [`clean()`] on its way out: names, values and
//! messages can hold terminal control sequences and CI workflow commands.

mod actions;
mod clean;
mod diagnosis;
mod document;
mod markdown;
mod narrator;
mod palette;
mod plan_text;
mod problem;
mod runs;
mod stale;
mod volume;

pub use clean::{clean, clean_block};
pub use diagnosis::diagnosis_text;
pub use document::plan_document_text;
pub use markdown::plan_markdown;
pub use narrator::{Narrator, Terminal};
pub use palette::Palette;
pub use plan_text::{PlanText, drift_line, plan_line, plan_text};
pub use problem::{Report, problem_text};
pub use runs::{RunLine, history_text};
pub use stale::stale_text;
pub use volume::rebinding_lines;
