//! Rules that hold for single values wherever they stand.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::civil::Date;

use super::Findings;
use crate::Duration;
use crate::tree::quoted;

/// Reads a day in the one form that is taken: `2026-01-31`.
pub(crate) fn day(text: &str) -> Option<Date> {
    let form = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    form.then(|| text.parse().ok()).flatten()
}

/// Says whether a text is a DNS label (RFC 1123).
fn is_label(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty()
        && text.len() <= 63
        && text.bytes().all(legal)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

impl Findings<'_> {
    /// Wants a text with something in it.
    pub(super) fn want_text(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.rule(path, "must not be empty", "give a value");
        }
    }

    /// Wants a DNS label of at most 63 characters.
    pub(super) fn want_label(&mut self, path: &str, text: &str) {
        if !is_label(text) {
            self.rule(path, format!("{} is not a DNS label", quoted(text)), LABEL_HINT);
        }
    }

    /// Wants a list of environment names.
    pub(super) fn want_environments(&mut self, path: &str, names: &[String]) {
        for (index, name) in names.iter().enumerate() {
            self.want_environment(&format!("{path}[{index}]"), name);
        }
    }

    /// Wants the name of an environment.
    pub(super) fn want_environment(&mut self, path: &str, name: &str) {
        if windlass_model::EnvironmentName::new(name).is_none() {
            self.rule(
                path,
                format!("{} is not a DNS label of at most 40 characters", quoted(name)),
                LABEL_HINT,
            );
        }
    }

    /// Wants a time that passes.
    pub(super) fn want_some_time(&mut self, path: &str, duration: Duration) {
        if duration.get().is_zero() {
            self.rule(path, "must be longer than nothing", "give a duration such as `30s`");
        }
    }

    /// Wants a day; returns it.
    pub(super) fn want_day(&mut self, path: &str, text: &str) -> Option<Date> {
        let day = day(text);
        if day.is_none() {
            self.rule(
                path,
                format!("{} is not a day", quoted(text)),
                "write year, month and day as `2026-01-31`",
            );
        }
        day
    }

    /// Wants a kind as `Kind.group` or `Kind`.
    pub(super) fn want_kind(&mut self, path: &str, text: &str) {
        let (kind, group) = text.split_once('.').unwrap_or((text, "core"));
        let kind_fits = kind.starts_with(|c: char| c.is_ascii_uppercase())
            && kind.bytes().all(|b| b.is_ascii_alphanumeric());
        if !kind_fits || !group.split('.').all(is_label) {
            let hint = "write `Kind.group`, such as `StatefulSet.apps`, or `Kind` for the core group";
            self.rule(path, format!("{} is not a kind", quoted(text)), hint);
        }
    }

    /// Wants a path of a file on the agent.
    pub(super) fn want_file(&mut self, path: &str, file: &Path) {
        if file.as_os_str().is_empty() {
            self.rule(path, "must not be empty", "give the path of the file");
        } else if file.starts_with("~") {
            let hint = "write the whole path, or one relative to the folder of this file";
            self.rule(path, "`~` does not stand for the home directory here", hint);
        }
    }

    /// Wants a path inside the delivered repository.
    pub(super) fn want_path_inside(&mut self, path: &str, text: &str) {
        let leaves = text.starts_with('/') || text.contains('\\') || text.split('/').any(|part| part == "..");
        if text.is_empty() || leaves {
            let what = format!("{} is not a path inside the repository", quoted(text));
            self.rule(path, what, "write it relative to the root of the repository, without `..`");
        }
    }

    /// Wants every value once; `path` makes the path of an index.
    pub(super) fn want_once<'a>(
        &mut self,
        what: &str,
        values: impl Iterator<Item = &'a str>,
        path: impl Fn(usize) -> String,
    ) {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, value) in values.enumerate() {
            if let Some(earlier) = first.get(value) {
                let earlier = path(*earlier);
                self.rule(
                    &path(index),
                    format!("{what} {} is given twice", quoted(value)),
                    format!("see {earlier}"),
                );
            } else {
                first.insert(value, index);
            }
        }
    }
}

pub(super) const LABEL_HINT: &str =
    "use lower-case letters, digits and `-`, beginning and ending with a letter or digit";
