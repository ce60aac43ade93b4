//! Regular expressions as Go reads them.

use regex::Regex;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};

/// A pattern for texts: what it says, and how it is run if that is possible here.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    regex: Option<Regex>,
}

impl Pattern {
    pub(crate) fn read(text: &str) -> Self {
        Self { text: text.to_owned(), regex: Regex::new(&as_rust(text)).ok() }
    }

    pub(crate) fn check(&self, value: &str, path: &FieldPath, findings: &mut Findings) {
        match &self.regex {
            None => findings.unchecked(path, format!("the pattern `{}` was not checked locally", self.text)),
            Some(regex) if regex.is_match(value) => {}
            Some(_) => {
                findings.flaw(path, FlawKind::Value, format!("does not match the pattern `{}`", self.text));
            }
        }
    }
}

/// Rewrites a pattern of Go's `regexp` for the crate `regex`, which means more by `\d`, `\w`, `\s` and `\b` (all of
/// Unicode) and by brackets inside of brackets (sets of sets).
fn as_rust(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    let mut class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped) => text.push_str(&escape(escaped, class)),
                None => text.push('\\'),
            },
            '[' if !class => {
                class = true;
                text.push('[');
                if characters.next_if_eq(&'^').is_some() {
                    text.push('^');
                }
                // A bracket that closes at once is meant as a character.
                if characters.next_if_eq(&']').is_some() {
                    text.push_str("\\]");
                }
            }
            '[' if characters.peek() == Some(&':') => text.push('['),
            ':' if class && characters.peek() == Some(&']') && text.contains("[:") => {
                text.push_str(":]");
                characters.next();
            }
            ']' => {
                class = false;
                text.push(']');
            }
            '[' | '&' | '~' if class => {
                text.push('\\');
                text.push(character);
            }
            other => text.push(other),
        }
    }
    text
}

fn escape(escaped: char, class: bool) -> String {
    let set = match escaped {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\f\\r ",
        'D' => return "[^0-9]".to_owned(),
        'W' => return "[^0-9A-Za-z_]".to_owned(),
        'S' => return "[^\\t\\n\\f\\r ]".to_owned(),
        'b' => return "(?-u:\\b)".to_owned(),
        other => return format!("\\{other}"),
    };
    if class { set.to_owned() } else { format!("[{set}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        for (pattern, matching, other) in [
            (r"^\d+$", "12", "١٢"),
            (r"^[\w.]+$", "a_.1", "é"),
            (r"^[^\d]$", "a", "1"),
            (r"^\S+$", "a\u{a0}b", "a b"),
            ("^[[]$", "[", "a"),
            ("^[]a]+$", "]a", "b"),
            ("^[[:alpha:]]+$", "abc", "a1"),
            ("^[a&&b]+$", "a&b", "c"),
            (r"^a\.b\/c$", "a.b/c", "aab/c"),
            ("^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)$", "db-1", "-db"),
            (r"\bdb\b", "a db c", "adbc"),
            ("a$", "a", "a\n"),
        ] {
            let pattern = Pattern::read(pattern);
            let regex = pattern.regex.as_ref().unwrap_or_else(|| panic!("{} is not read", pattern.text));
            assert!(regex.is_match(matching), "{} does not match {matching:?}", pattern.text);
            assert!(!regex.is_match(other), "{} matches {other:?}", pattern.text);
        }
    }

    #[test]
    fn what_cannot_be_run_here_is_not_decided() {
        let mut findings = Findings::default();
        Pattern::read(r"^\C$").check("a", &FieldPath::root(), &mut findings);
        assert_eq!((findings.flaws.len(), findings.unchecked.len()), (0, 1));
    }
}
