//! Which names a tree may hold.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Says what is wrong with the name of a file or folder in a tree.
///
/// Such names are legal in Git, and each of them means something else to some tool: a path that leaves the
/// folder, a second `.git`, a line that a terminal obeys, two names that are one on another file system.
pub(crate) fn problem(name: &[u8]) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(name) else { return Some("its name is not UTF-8") };
    if matches!(text, "" | "." | "..") {
        return Some("its name is empty, `.` or `..`");
    }
    if text.contains(['/', '\\']) {
        return Some("its name holds a slash or backslash");
    }
    if text.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Some("its name holds control or invisible characters");
    }
    if is_git_folder(text) {
        return Some("its name is a form of `.git`");
    }
    if !is_nfc(text) {
        return Some("its name is not in Unicode's composed form (NFC)");
    }
    None
}

/// Returns the form in which names of one folder must differ, so that they do on every file system.
pub(crate) fn folded(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Says whether a character changes how a text looks without being seen. HFS+ ignores most of them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
}

/// Says whether some file system takes a name for `.git`: in any case, with trailing dots and blanks or a
/// stream name (NTFS), or by its short form.
fn is_git_folder(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let stem = lower.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(stem, ".git" | "git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "a",
            "a b",
            ".gitignore",
            ".gitattributes",
            ".github",
            "git",
            "ü.yaml",
            "a:b",
            "..a",
            "a~1",
            "日本",
        ] {
            assert_eq!(problem(name.as_bytes()), None, "{name}");
        }
        let bad: [&[u8]; 27] = [
            b"",
            b".",
            b"..",
            b"a/b",
            b"/etc",
            b"a\\b",
            b"..\\a",
            b"a\n",
            b"\x1b[2J",
            b"a\x7f",
            b"\xff",
            b".git",
            b".GIT",
            b".Git ",
            b".git.",
            b".git . .",
            b".git::$INDEX_ALLOCATION",
            b"git~1",
            b"GIT~1",
            ".g\u{200c}it".as_bytes(),
            "a\u{202e}lmay".as_bytes(),
            "\u{feff}a".as_bytes(),
            "u\u{308}".as_bytes(),
            "a\u{85}".as_bytes(),
            "a\u{2028}b".as_bytes(),
            "x\u{fe0f}".as_bytes(),
            "\u{e0041}".as_bytes(),
        ];
        for name in bad {
            assert!(problem(name).is_some(), "{:?}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn names_that_some_file_system_takes_for_one() {
        for (one, other) in [("A", "a"), ("Ü", "ü"), ("É", "E\u{301}"), ("Σ", "σ")] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("a"), folded("b"));
    }
}
