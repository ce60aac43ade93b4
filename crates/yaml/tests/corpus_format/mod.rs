//! Reads and writes the files of the corpus; `corpus/README.md` describes them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The header that `@` stands for.
const HEADER: [&str; 3] = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: a}"];
const FIELDS: &str = r#""apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}"#;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One case: a text and what is expected of it.
pub(crate) struct Case {
    pub(crate) name: String,
    flags: Vec<String>,
    text: String,
    /// What `kubectl` reads, `None` when it refuses.
    pub(crate) answer: Option<Value>,
    /// Why we refuse what `kubectl` accepts, or the other way round.
    pub(crate) differs: Option<String>,
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Value,
    Key,
    Document,
}

pub(crate) struct File {
    path: PathBuf,
    preamble: String,
    pub(crate) cases: Vec<Case>,
}

impl File {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let table = path.extension().is_some_and(|extension| extension == "table");
        let form = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("keys") => Form::Key,
            _ if table => Form::Value,
            _ => Form::Document,
        };
        let start = if form == Form::Document { text.find("## ").unwrap() } else { 0 };
        let cases = if table {
            text.lines().map(|line| row(line, form)).collect()
        } else {
            text[start..].split("\n## ").map(block).collect()
        };
        Self { path: path.to_owned(), preamble: text[..start].to_owned(), cases }
    }

    pub(crate) fn write(&self) {
        let mut text = self.preamble.clone();
        for (number, case) in self.cases.iter().enumerate() {
            let answer = case.answer.as_ref().map_or_else(|| "rejected".to_owned(), Value::to_string);
            let differs = case.differs.as_ref().map(|reason| format!("!! {reason}"));
            if case.form == Form::Document {
                let flags = if case.flags.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", case.flags.join(", "))
                };
                let gap = if number > 0 { "\n" } else { "" };
                let differs = differs.map_or_else(String::new, |reason| format!("{reason}\n"));
                writeln!(text, "{gap}## {}{flags}\n{}=> {answer}\n{differs}", case.name, case.text).unwrap();
                text.truncate(text.trim_end().len() + 1);
            } else {
                let differs = differs.map_or_else(String::new, |reason| format!(" {reason}"));
                writeln!(text, "{} => {answer}{differs}", case.text).unwrap();
            }
        }
        std::fs::write(&self.path, text).unwrap();
    }
}

fn row(line: &str, form: Form) -> Case {
    let (line, differs) = match line.rsplit_once(" !! ") {
        Some((line, reason)) => (line, Some(reason.to_owned())),
        None => (line, None),
    };
    let (text, answer) = line.rsplit_once(" => ").unwrap_or((line, "rejected"));
    Case {
        name: text.to_owned(),
        flags: Vec::new(),
        text: text.to_owned(),
        answer: read_answer(answer),
        differs,
        form,
    }
}

fn block(block: &str) -> Case {
    let (title, body) = block.trim_start_matches("## ").split_once('\n').unwrap_or((block, ""));
    let (name, flags) = match title.strip_suffix(')').and_then(|title| title.rsplit_once(" (")) {
        Some((name, flags)) => (name, flags.split(", ").map(str::to_owned).collect()),
        None => (title, Vec::new()),
    };
    let with_answer = format!("\n{body}");
    let (text, rest) =
        with_answer.rsplit_once("\n=> ").map_or((with_answer.as_str(), "rejected"), |(t, r)| (t, r));
    let (answer, differs) =
        rest.trim().split_once("\n!! ").map_or((rest.trim(), None), |(a, s)| (a, Some(s)));
    let text = text.strip_prefix('\n').unwrap_or_default();
    Case {
        name: name.to_owned(),
        flags,
        text: if text.is_empty() {
            String::new()
        } else {
            format!("{}\n", text.strip_suffix('\n').unwrap_or(text))
        },
        answer: read_answer(answer),
        differs: differs.map(str::to_owned),
        form: Form::Document,
    }
}

fn read_answer(text: &str) -> Option<Value> {
    if text == "rejected" {
        None
    } else {
        Some(serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}")))
    }
}

impl Case {
    /// Returns the bytes of the file that is read.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let header = HEADER.join("\n");
        match self.form {
            Form::Value => format!("{header}\nx: {}\n", self.text).into_bytes(),
            Form::Key => {
                format!("{header}\nx:\n  {} : 1\n", self.text).replace("? a : 1", "? a\n  : 1").into_bytes()
            }
            Form::Document => self.document(),
        }
    }

    fn document(&self) -> Vec<u8> {
        let flag = |name: &str| self.flags.iter().any(|flag| flag == name);
        let mut bytes = if flag("escaped") { unescape(&self.text) } else { self.text.clone().into_bytes() };
        if flag("open") {
            bytes.pop();
        }
        let bytes = expand(&bytes);
        let order = match (flag("utf16le"), flag("utf16be")) {
            (true, _) => u16::to_le_bytes,
            (_, true) => u16::to_be_bytes,
            _ => return bytes,
        };
        let text = String::from_utf8(bytes).unwrap();
        format!("\u{feff}{text}").encode_utf16().flat_map(order).collect()
    }

    /// Brings documents into the form of an answer.
    pub(crate) fn answer_of(&self, documents: Vec<Value>) -> Value {
        let mut documents: Vec<Value> = documents.into_iter().map(without_header).collect();
        match self.form {
            Form::Document => Value::Array(documents),
            Form::Value => documents.pop().map_or(Value::Null, |mut document| document["x"].take()),
            Form::Key => {
                let keys = documents
                    .pop()
                    .and_then(|document| document["x"].as_object().cloned())
                    .unwrap_or_default();
                keys.into_iter().map(|(key, _)| key).collect::<Vec<_>>().join(" and ").into()
            }
        }
    }
}

fn without_header(mut document: Value) -> Value {
    let map = document.as_object_mut().unwrap();
    for field in ["apiVersion", "kind", "metadata"] {
        map.remove(field);
    }
    document
}

/// Puts the headers in the places of `@` and `@@`, with the line end of the `@`.
fn expand(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let (mark, rest) = body.strip_prefix(BOM).map_or((&b""[..], body), |rest| (BOM, rest));
        if rest == b"@" {
            let end = &line[body.len()..];
            out.extend_from_slice(mark);
            for header in HEADER {
                out.extend_from_slice(header.as_bytes());
                out.extend_from_slice(end);
            }
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.windows(2).position(|pair| pair == b"@@") {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(FIELDS.as_bytes());
            rest = &rest[at + 2..];
        }
        out.extend_from_slice(rest);
    }
    out
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\n' => {}
            '\\' => match rest.next().unwrap() {
                'n' => out.push(b'\n'),
                'r' => out.push(b'\r'),
                't' => out.push(b'\t'),
                'x' => out.push(u8::from_str_radix(&rest.by_ref().take(2).collect::<String>(), 16).unwrap()),
                'u' => {
                    let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let character = char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap();
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            },
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}
