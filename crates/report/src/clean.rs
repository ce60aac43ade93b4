//! Makes untrusted text harmless for terminals and CI logs.
//!
//! GitHub's runner reads `::command::` at the start of a line and `##[command]` anywhere in it; the Azure
//! agent reads `##vso[…]` anywhere. Both read stdout and stderr. A ConfigMap must not be able to set a
//! job's outputs.

use std::fmt::Write as _;

/// Returns the text on one line, with control characters, bidirectional overrides and workflow commands
/// made visible.
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
    break_commands(&out)
}

/// Returns the text line by line, each cleaned and set behind a gutter, so that no line begins with
/// untrusted text.
pub fn clean_block(text: &str, gutter: &str) -> String {
    text.lines().flat_map(|line| [gutter.to_owned(), clean(line), "\n".to_owned()]).collect()
}

fn break_commands(text: &str) -> String {
    let broken = text.replace("##[", "# #[").replace("##vso[", "# #vso[");
    match broken.trim_start().strip_prefix("::") {
        Some(rest) => format!(": :{rest}"),
        None => broken,
    }
}

/// Says whether a character can move the cursor, reorder text or hide.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_broken_visibly() {
        let check = |text: &str, want: &str| assert_eq!(clean(text), want);
        check("plain ü 日本", "plain ü 日本");
        check("\u{1b}[31mred\u{1b}]0;t\u{7}", "\\u{1b}[31mred\\u{1b}]0;t\\u{7}");
        check("a\rb\nc\td", "a\\rb\\nc d");
        check("::set-output name=x::y", ": :set-output name=x::y");
        check("   ::error::y", ": :error::y");
        check("a ##[error]y", "a # #[error]y");
        check("a ##vso[task.complete]y", "a # #vso[task.complete]y");
        check("user\u{202e}gpj.exe\u{200b}", "user\\u{202e}gpj.exe\\u{200b}");
        check("std::string stays", "std::string stays");
    }

    #[test]
    fn a_block_never_begins_a_line_with_its_own_text() {
        assert_eq!(clean_block("::add-mask::x\n  ##[group]", "│ "), "│ : :add-mask::x\n│   # #[group]\n");
    }
}
