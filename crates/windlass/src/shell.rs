//! Standard output for data, standard error for talk.

use std::io::Write as _;

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_report::{Palette, Terminal, json_text, problem_text, without_commands};

use crate::args::{Output, Talk};
use crate::error::CommandError;
use crate::surroundings::Surroundings;

/// Writes to the two streams; the only code that does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shell {
    talk: Talk,
    terminal: Terminal,
}

impl Shell {
    /// Decides on colour and progress.
    pub(crate) fn new(surroundings: &Surroundings, talk: Talk) -> Self {
        let palette = Palette::new(surroundings.colour() && !talk.no_color);
        let live = surroundings.terminal && surroundings.variable("CI").is_none_or(|ci| ci == "false");
        Self { talk, terminal: Terminal { palette, live, verbose: talk.verbose } }
    }

    /// Returns how the narrator may write.
    pub(crate) fn terminal(self) -> Terminal {
        self.terminal
    }

    /// Returns the colours.
    pub(crate) fn palette(self) -> Palette {
        self.terminal.palette
    }

    /// Says whether standard output gets one JSON document.
    pub(crate) fn is_json(self) -> bool {
        self.talk.output == Output::Json
    }

    /// Says whether everything is told.
    pub(crate) fn is_verbose(self) -> bool {
        self.talk.verbose
    }

    /// Writes the command's result: text, or a JSON document with the outcome in it.
    pub(crate) fn result(self, text: &str, document: impl FnOnce() -> Value, outcome: ExitCode) {
        if self.is_json() {
            let mut document = document();
            document["outcome"] = json!(outcome.name());
            self.data(&json_text(&document));
        } else {
            self.data(&without_commands(text));
        }
    }

    /// Writes to standard output, exactly: for what other programs read. A reader that has gone away is not an error.
    #[expect(clippy::unused_self, reason = "only who holds the shell may write")]
    pub(crate) fn data(self, text: &str) {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
    }

    /// Writes to standard error.
    #[expect(clippy::unused_self, reason = "only who holds the shell may write")]
    pub(crate) fn talk(self, text: &str) {
        let mut out = std::io::stderr().lock();
        out.write_all(without_commands(text).as_bytes()).and_then(|()| out.flush()).ok();
    }

    /// Says why the command ends early; with JSON output the document says it too.
    pub(crate) fn problem(self, error: &CommandError) {
        self.talk(&problem_text(&error.report, self.palette()));
        if self.is_json() {
            let report = &error.report;
            let document = json!({
                "outcome": error.code.name(),
                "error": {"what": report.what, "details": report.details, "hints": report.hints},
            });
            self.data(&json_text(&document));
        }
    }
}
