//! What the values of a file mean together.

mod deletion;
mod environment;
mod ownership;
mod repository;
mod restraint;
mod values;

pub(crate) use environment::environment;
pub(crate) use repository::repository;
pub(crate) use values::day;

use crate::error::{Mistake, SettingsError, SettingsErrors};
use crate::tree::Node;

/// Collects broken rules with the places of the values that break them.
pub(crate) struct Findings<'a> {
    file: &'a str,
    root: &'a Node,
    errors: Vec<SettingsError>,
}

impl<'a> Findings<'a> {
    /// Starts with no finding.
    pub(crate) fn new(file: &'a str, root: &'a Node) -> Self {
        Self { file, root, errors: Vec::new() }
    }

    /// Reports a broken rule at a path such as `source.keys[0].file`; where the file does not have that
    /// key, the value that should hold it is pointed at.
    pub(crate) fn rule(&mut self, path: &str, what: impl Into<String>, hint: impl Into<String>) {
        self.report(path, Mistake::Rule { what: what.into(), hint: hint.into() });
    }

    /// Reports a secret at a path.
    pub(crate) fn secret(&mut self, path: &str, what: &str, hint: &str) {
        self.report(path, Mistake::Secret { what: what.to_owned(), hint: hint.to_owned() });
    }

    /// Returns what was found, if anything was.
    pub(crate) fn finish(self) -> Option<SettingsErrors> {
        SettingsErrors::new(self.errors)
    }

    fn report(&mut self, path: &str, mistake: Mistake) {
        let node = self.root.nearest(path);
        let (line, column) = (node.line, node.column);
        self.errors.push(SettingsError {
            file: self.file.to_owned(),
            line,
            column,
            path: path.to_owned(),
            mistake,
        });
    }
}
