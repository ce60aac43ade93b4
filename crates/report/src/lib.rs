//! Turns events and plans into text, Markdown, HTML and JSON: the only code that formats for people.
//!
//! Everything that comes from a repository or a cluster passes [`clean()`] on its way out: names, values and
//! messages can hold terminal control sequences and CI workflow commands.

mod actions;
mod clean;
mod diagnosis;
mod document;
mod html;
mod markdown;
mod narrator;
mod palette;
mod plan_text;
mod problem;
mod runs;
mod summary;
mod view;
mod yaml;

pub use clean::{clean, clean_block, json_text, without_commands};
pub use diagnosis::diagnosis_text;
pub use document::plan_document_text;
pub use html::plan_html;
pub use markdown::{PlanMarkdown, plan_markdown};
pub use narrator::{Narrator, Terminal};
pub use palette::Palette;
pub use plan_text::{Diff, PlanText, plan_text};
pub use problem::{Report, problem_text};
pub use runs::{RunLine, history_text};
pub use summary::{drift_line, plan_line};
