//! Field changes as lines: short values beside the path, long ones below it, long texts as a comparison.

use serde_json::Value;
use windlass_model::{ChangeKind, FieldChange, MASK};

use super::line::{Line, Tone};
use crate::actions::plural;
use crate::yaml::{compare, yaml};

/// A value that is longer than this is shown below its path, or cut.
const INLINE: usize = 100;
/// At most this many lines below a path.
const LINES: usize = 40;
/// Characters that are shown around the difference of two long values.
const AROUND: usize = 24;

/// One changed field: a line that names it, and lines that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The path and, where it is short, what changes.
    pub(crate) head: Line,
    /// Long values.
    pub(crate) body: Vec<Line>,
}

impl Change {
    /// Makes a change of one line.
    pub(crate) fn line(tone: Tone, text: impl AsRef<str>) -> Self {
        Self { head: Line::new(tone, text), body: Vec::new() }
    }

    /// Describes a changed field.
    pub(crate) fn of(change: &FieldChange) -> Self {
        let reordered = change.kind == ChangeKind::Reordered;
        Self::between(&change.path.to_string(), change.before.as_ref(), change.after.as_ref(), reordered)
    }

    /// Describes a field by its values; `reordered` lists hold the same items.
    pub(crate) fn between(
        path: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        reordered: bool,
    ) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if *before == MASK && *after == MASK => {
                Self::line(Tone::Changed, format!("{path}: another value; those of Secrets are not shown"))
            }
            (Some(before), Some(after)) if reordered => {
                let text = format!("{path}: other order, {} → {}", inline(before), inline(after));
                Self::line(Tone::Changed, text)
            }
            (Some(before), Some(after)) => changed(path, before, after),
            (Some(before), None) => whole(Tone::Removed, path, before),
            (None, Some(after)) => whole(Tone::Added, path, after),
            (None, None) => Self::line(Tone::Changed, path),
        }
    }
}

/// Cuts a list of lines and says how many are missing.
pub(crate) fn cut(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    if lines.len() > most {
        let missing = lines.len() - most;
        lines.truncate(most);
        lines.push(Line::new(Tone::Dim, format!("… {missing} more lines")));
    }
    lines
}

/// Returns a value on one line, cut where it is long.
pub(crate) fn inline(value: &Value) -> String {
    let text = value.to_string();
    let length = text.chars().count();
    if length <= INLINE {
        return text;
    }
    let head: String = text.chars().take(INLINE).collect();
    format!("{head}… ({length} characters)")
}

fn whole(tone: Tone, path: &str, value: &Value) -> Change {
    if fits(value) {
        return Change::line(tone, format!("{path}: {value}"));
    }
    let text = match value {
        Value::String(text) => text.clone(),
        nested => yaml(nested),
    };
    let body = text.lines().map(|line| Line::new(tone, format!("    {line}"))).collect();
    Change { head: Line::new(tone, format!("{path}:")), body: cut(body, LINES) }
}

fn changed(path: &str, before: &Value, after: &Value) -> Change {
    if fits(before) && fits(after) {
        return Change::line(Tone::Changed, format!("{path}: {before} → {after}"));
    }
    let (old, new) = match (before, after) {
        (Value::String(old), Value::String(new)) => (old.clone(), new.clone()),
        _ => (yaml(before), yaml(after)),
    };
    if !old.trim_end().contains('\n') && !new.trim_end().contains('\n') {
        let (old, new) = around_difference(&old, &new);
        return Change::line(Tone::Changed, format!("{path}: {old} → {new}"));
    }
    let lines = compare(&old, &new, 1);
    let count = |tone: Tone| lines.iter().filter(|line| line.tone() == tone).count();
    let (added, removed) = (count(Tone::Added), count(Tone::Removed));
    let head = format!("{path}: {added} line{} added, {removed} removed", plural(added));
    let body = lines.iter().map(|line| Line::new(line.tone(), format!("    {}", line.text()))).collect();
    Change { head: Line::new(Tone::Changed, head), body: cut(body, LINES) }
}

fn fits(value: &Value) -> bool {
    let several_lines = |text: &String| text.trim_end().contains('\n');
    !matches!(value, Value::String(text) if several_lines(text))
        && value.to_string().chars().count() <= INLINE
}

/// Leaves out what two long texts share at both ends.
fn around_difference(before: &str, after: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let start = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    let shorter = old.len().min(new.len());
    let ends = old.iter().rev().zip(new.iter().rev());
    let end = ends.take_while(|(left, right)| left == right).count().min(shorter - start);
    let (from, tail) = (start.saturating_sub(AROUND), end.saturating_sub(AROUND));
    let part = |text: &[char]| {
        let middle: String = text.iter().take(text.len() - tail).skip(from).collect();
        let (open, close) = (if from > 0 { "…" } else { "" }, if tail > 0 { "…" } else { "" });
        inline(&Value::from(format!("{open}{middle}{close}")))
    };
    (part(&old), part(&new))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{GroupKind, delta};

    use super::*;

    fn check(before: &Value, after: &Value, want: &[&str]) {
        let changes = delta(&GroupKind::new("", "ConfigMap"), before, after);
        let lines: Vec<String> = changes
            .iter()
            .map(Change::of)
            .flat_map(|change| std::iter::once(change.head).chain(change.body))
            .map(|line| line.signed())
            .collect();
        assert_eq!(lines, want);
    }

    #[test]
    fn short_values_stand_beside_their_path() {
        check(
            &json!({"a": 1, "b": "x", "l": [{"name": "m"}, {"name": "n"}]}),
            &json!({"a": 2, "c": {"d": true}, "l": [{"name": "n"}, {"name": "m"}]}),
            &[
                "~ a: 1 → 2",
                "- b: \"x\"",
                "+ c: {\"d\":true}",
                "~ l: other order, [\"name=m\",\"name=n\"] → [\"name=n\",\"name=m\"]",
            ],
        );
    }

    #[test]
    fn long_texts_are_compared_line_by_line() {
        check(
            &json!({"conf": "a\nb\nc\nd\n"}),
            &json!({"conf": "a\nB\nc\nd\n"}),
            &["~ conf: 1 line added, 1 removed", "      a", "-     b", "+     B", "      c"],
        );
    }

    #[test]
    fn of_long_lines_only_the_difference_is_shown() {
        let long = |middle: &str| json!({"a": format!("{}{middle}{}", "x".repeat(200), "y".repeat(200))});
        let (x, y) = ("x".repeat(24), "y".repeat(24));
        check(&long("1"), &long("2"), &[&format!("~ a: \"…{x}1{y}…\" → \"…{x}2{y}…\"")]);
    }

    #[test]
    fn new_structures_are_shown_below_their_path() {
        let after = json!({"spec": {"image": "registry.example/".repeat(6), "ports": [{"port": 1}]}});
        check(
            &json!({}),
            &after,
            &[
                "+ spec:",
                &format!("+     image: {}", "registry.example/".repeat(6)),
                "+     ports:",
                "+     - port: 1",
            ],
        );
    }
}
