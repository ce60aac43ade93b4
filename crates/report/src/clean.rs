//! Makes untrusted text harmless for terminals and CI logs.
//!
//! GitHub's runner reads `::command::` at the start of a line, behind any white space, and `##[command]` anywhere in
//! it; the Azure agent reads `##vso[…]` anywhere, and compares without regard to characters that are never
//! displayed. Both read stdout and stderr. A ConfigMap must not be able to set a job's outputs.
//!
//! What is made visible is not lost: `plan.json` holds every text as it is, see [`json_text`].

use std::fmt::Write as _;

use serde_json::Value;

/// Returns the text on one line, with control characters, bidirectional overrides, characters that are never
/// displayed and workflow commands made visible. Cleaning twice changes nothing more.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push(' '),
            hidden if is_hidden(hidden) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    // Colour is switched off right behind a text, by a sequence that holds a bracket.
    if out.ends_with("##") {
        out.insert(out.len() - 1, ' ');
    }
    break_commands(&out)
}

/// Returns the text line by line, each cleaned and set behind a gutter, so that no line begins with
/// untrusted text.
pub fn clean_block(text: &str, gutter: &str) -> String {
    text.lines().flat_map(|line| [gutter.to_owned(), clean(line), "\n".to_owned()]).collect()
}

/// Returns the text with its lines, indentation and colours, but with workflow commands broken: the last check of
/// whatever is printed, for commands that only came about when texts were put together.
pub fn without_commands(text: &str) -> String {
    text.split_inclusive('\n').map(break_commands).collect()
}

/// Returns a JSON document, indented, in which no text can act: `##` and hidden characters are written as escapes,
/// which every JSON reader turns back. Nothing is lost.
pub fn json_text(document: &Value) -> String {
    // Outside of texts JSON has neither `#` nor characters that are not ASCII.
    let plain = format!("{document:#}\n").replace("##", "#\\u0023");
    let mut out = String::with_capacity(plain.len());
    for character in plain.chars() {
        if character == '\n' || !is_hidden(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

fn break_commands(text: &str) -> String {
    let mut broken = text.to_owned();
    for command in ["##[", "##vso["].into_iter().filter(|_| text.contains("##")) {
        let mut from = 0;
        while let Some(place) = broken[from..].to_ascii_lowercase().find(command) {
            broken.insert(from + place + 1, ' ');
            from += place + 2;
        }
    }
    let start = broken.len() - broken.trim_start().len();
    if broken[start..].starts_with("::") {
        broken.insert(start + 1, ' ');
    }
    broken
}

/// Says whether a character can move the cursor, reorder text, or is never displayed (Unicode's
/// `Default_Ignorable_Code_Point`, with the separators of lines and paragraphs).
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn payloads_are_broken_visibly() {
        let check = |text: &str, want: &str| {
            assert_eq!(clean(text), want);
            assert_eq!(clean(want), want, "cleaning twice");
        };
        check("plain ü 日本 😀", "plain ü 日本 😀");
        check("\u{1b}[31mred\u{1b}]0;t\u{7}", "\\u{1b}[31mred\\u{1b}]0;t\\u{7}");
        check("\u{9b}31m", "\\u{9b}31m");
        check("a\rb\nc\td", "a\\rb\\nc d");
        check("::set-output name=x::y", ": :set-output name=x::y");
        check("   ::error::y", "   : :error::y");
        check("a ##[error]y", "a # #[error]y");
        check("###[error]y", "## #[error]y");
        check("a ##vso[task.complete]y ##VSO[x]", "a # #vso[task.complete]y # #VSO[x]");
        check("##\u{200b}vso[x]", "##\\u{200b}vso[x]");
        check("ends in ##", "ends in # #");
        check("user\u{202e}gpj.exe\u{200b}", "user\\u{202e}gpj.exe\\u{200b}");
        check("std::string and ## stay", "std::string and ## stay");
    }

    #[test]
    fn a_block_never_begins_a_line_with_its_own_text() {
        assert_eq!(clean_block("::add-mask::x\n  ##[group]", "│ "), "│ : :add-mask::x\n│   # #[group]\n");
    }

    #[test]
    fn a_command_that_came_about_late_is_broken() {
        assert_eq!(without_commands("a\n  ::error::b\n##[c]"), "a\n  : :error::b\n# #[c]");
        assert_eq!(without_commands("\u{1b}[1mbold\u{1b}[0m\n"), "\u{1b}[1mbold\u{1b}[0m\n");
    }

    #[test]
    fn json_is_harmless_and_loses_nothing() {
        let document = json!({"##[group]": "##vso[x] ### \u{202e}\u{9b}\u{7f}\u{e0001}\u{1b}[1m", "b": ["::error::", 1.5]});
        let text = json_text(&document);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
        assert!(!text.contains("##") && !text.chars().any(|c| c != '\n' && is_hidden(c)), "{text}");
    }
}
