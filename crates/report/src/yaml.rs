//! Objects as YAML, and two of them compared line by line.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use windlass_model::Bodies;

use crate::view::{Line, Tone, cut};

/// Lines of context around a difference.
const CONTEXT: usize = 3;

/// Returns a value as YAML, for reading only.
pub(crate) fn yaml(value: &Value) -> String {
    // A long line stays one line: folded, it would be compared word by word.
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    serde_saphyr::to_string_with_options(value, options).unwrap_or_else(|_| format!("{value:#}\n"))
}

/// Returns the unified comparison of an object before and after, of at most `most` lines; empty where neither is
/// known.
pub(crate) fn unified(bodies: &Bodies, most: usize) -> Vec<Line> {
    let text = |shown: &Option<windlass_model::Shown>| {
        shown.as_ref().map(|shown| yaml(&shown.body())).unwrap_or_default()
    };
    cut(compare(&text(&bodies.before), &text(&bodies.after), CONTEXT), most)
}

/// Compares two texts line by line; a line between two hunks says where the next one is.
pub(crate) fn compare(before: &str, after: &str, context: usize) -> Vec<Line> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (position, group) in diff.grouped_ops(context).iter().enumerate() {
        if position > 0
            && let Some(first) = group.first()
        {
            let (old, new) = (first.old_range().start + 1, first.new_range().start + 1);
            lines.push(Line::new(Tone::Dim, format!("@@ -{old} +{new} @@")));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let tone = match change.tag() {
                ChangeTag::Delete => Tone::Removed,
                ChangeTag::Insert => Tone::Added,
                ChangeTag::Equal => Tone::Plain,
            };
            lines.push(Line::new(tone, change.value().trim_end_matches(['\n', '\r'])));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{Object, Shown};

    use super::*;

    fn shown(data: &Value) -> Shown {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
        Shown::of(&Object::new(body, None).unwrap())
    }

    fn check(bodies: &Bodies, want: &[&str]) {
        let got: Vec<String> = unified(bodies, 100).iter().map(Line::signed).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn an_object_before_and_after() {
        let state = |b: &str| Some(shown(&json!({"a": "1", "b": b})));
        let (before, after) = (state("2"), state("3"));
        check(
            &Bodies { before, after },
            &[
                "  apiVersion: v1",
                "  data:",
                "    a: \"1\"",
                "-   b: \"2\"",
                "+   b: \"3\"",
                "  kind: ConfigMap",
                "  metadata:",
                "    name: a",
            ],
        );
        check(&Bodies::default(), &[]);
        let all: Vec<String> = unified(&Bodies { before: Some(shown(&json!({}))), after: None }, 2)
            .iter()
            .map(Line::signed)
            .collect();
        assert_eq!(all[1..], ["- data: {}", "  … 3 more lines"]);
    }
}
