//! From bytes to the pieces that `kubectl` parses one by one.

use std::borrow::Cow;

use crate::{Position, YamlError};

const BOM: char = '\u{feff}';

/// A piece of a stream between two `---` lines, with line endings as `\n`.
pub(crate) struct Chunk {
    /// The text; ends with a line feed.
    pub(crate) text: String,
    /// The line of the file on which the text starts, from 1.
    pub(crate) first_line: u64,
}

impl Chunk {
    /// Returns the file's position of a line and a column of the chunk, both from 0.
    pub(crate) fn position(&self, line: u64, column: u64) -> Position {
        Position { line: self.first_line + line, column: column + 1 }
    }
}

/// Decodes UTF-8, or UTF-16 behind a byte-order mark.
pub(crate) fn decode(bytes: &[u8], limit: usize) -> Result<Cow<'_, str>, YamlError> {
    if bytes.len() > limit {
        let message = format!("the file has {} bytes, more than {limit}", bytes.len());
        return Err(YamlError::new(
            Position { line: 1, column: 1 },
            message,
            "cut the file into smaller ones",
        ));
    }
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest).map(Cow::Borrowed),
        _ => utf8(bytes).map(Cow::Borrowed),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, YamlError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        YamlError::new(
            end_of(&valid),
            "not UTF-8",
            "save the file as UTF-8; binary content belongs into base64",
        )
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, YamlError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Err(YamlError::new(end_of(&text), "not UTF-16", "save the file as UTF-8")),
        }
    }
    if rest.is_empty() {
        Ok(text)
    } else {
        Err(YamlError::new(end_of(&text), "half a UTF-16 character", "save the file as UTF-8"))
    }
}

/// Returns the position behind a text.
pub(crate) fn end_of(text: &str) -> Position {
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Position { line: u64::try_from(line).unwrap_or(1), column: u64::try_from(column).unwrap_or(1) }
}

/// Cuts a stream at lines that start with `---` (apimachinery's `YAMLReader`).
///
/// A separator in front of the first line of a piece stays in it, where YAML reads it as a document's start.
pub(crate) fn split(text: &str, first_line: u64) -> Result<Vec<Chunk>, YamlError> {
    let mut chunks = Vec::new();
    let mut open = Chunk { text: String::new(), first_line };
    for (line, number) in text.split_inclusive('\n').zip(first_line..) {
        let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        if let Some(rest) = line.strip_prefix("---") {
            check_separator(rest, number)?;
            if !open.text.is_empty() {
                let next = Chunk { text: String::new(), first_line: number + 1 };
                chunks.push(std::mem::replace(&mut open, next));
                continue;
            }
        }
        if open.text.is_empty() {
            open.first_line = number;
        }
        open.text.push_str(line);
        open.text.push('\n');
    }
    if !open.text.is_empty() {
        chunks.push(open);
    }
    for chunk in &mut chunks {
        if chunk.text.starts_with(BOM) {
            chunk.text.remove(0);
        }
    }
    Ok(chunks)
}

fn check_separator(rest: &str, line: u64) -> Result<(), YamlError> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(());
    }
    let position = Position { line, column: 4 };
    Err(YamlError::new(position, "content on the line of a `---`", "start the document on the next line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_like_apimachinery() {
        let check = |text: &str, want: &[(u64, &str)]| {
            let got: Vec<(u64, String)> =
                split(text, 1).unwrap().into_iter().map(|chunk| (chunk.first_line, chunk.text)).collect();
            let want: Vec<(u64, String)> =
                want.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
            assert_eq!(got, want, "{text:?}");
        };
        check("", &[]);
        check("a", &[(1, "a\n")]);
        check("a\r\nb\rc\r\n", &[(1, "a\nb\rc\n")]);
        check("---\na\n---\nb\n", &[(1, "---\na\n"), (4, "b\n")]);
        check("a\n--- # x\n---\nb", &[(1, "a\n"), (3, "---\nb\n")]);
        check("a\n ---\nb\n", &[(1, "a\n ---\nb\n")]);
        check("a\n---\n\u{feff}b\n", &[(1, "a\n"), (3, "b\n")]);
        for bad in ["--- {a: 1}\n", "a\n----\n", "---x"] {
            assert!(split(bad, 1).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn encodings() {
        let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| {
            [&order(0xfeff)[..], &text.encode_utf16().flat_map(order).collect::<Vec<u8>>()].concat()
        };
        for bytes in
            [utf16("ä\n😀", u16::to_le_bytes), utf16("ä\n😀", u16::to_be_bytes), "\u{feff}ä\n😀".into()]
        {
            assert_eq!(decode(&bytes, 100).unwrap(), "ä\n😀");
        }
        let error = decode(b"a: 1\nb\xff", 100).unwrap_err();
        assert_eq!((error.line, error.column), (2, 2));
        for bad in [&b"\xff\xfea"[..], b"\xfe\xff\xd8\x00", &[b' '; 101]] {
            assert!(decode(bad, 100).is_err(), "{bad:?}");
        }
    }
}
