//! Reads a commit's raw bytes in the one form that honest tools write.
//!
//! Git itself and libgit2 are laxer, and in different ways: `gpgsig` lines inside the message, headers out
//! of order, headers that look like `gpgsig`, bytes behind a zero byte. Every such freedom lets someone
//! without a key make another commit id whose signature still verifies (compare CVE-2026-45022 in go-git and
//! CVE-2026-44309 in gitsign). So: tree, parents, author, committer, other headers with exactly one
//! `gpgsig` among them, a blank line, the message.

use git2::Oid;

/// A commit, read strictly. All text in it is unproven until the signature is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    pub(crate) author: Person,
    pub(crate) committer: Person,
    /// The armored signature with its line ends, and the bytes it covers.
    pub(crate) signature: Option<Signature>,
    pub(crate) subject: String,
}

/// A signature header, taken out of the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) armored: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// An author or committer line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    /// `Name <address>`.
    pub(crate) who: String,
    /// Seconds since 1970.
    pub(crate) time: i64,
}

/// Says how a commit departs from the one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    Malformed(&'static str),
    MultipleSignatures,
    /// A signature for the commit's SHA-256 form.
    Sha256Signature,
}

const BEGIN: &str = "-----BEGIN ";

/// Reads a commit.
pub(crate) fn parse(raw: &[u8]) -> Result<Commit, Problem> {
    if raw.contains(&0) {
        return Err(Problem::Malformed("it holds a zero byte"));
    }
    let mut lines = Lines { raw, at: 0 };
    let tree = lines.id_line(b"tree ").ok_or(Problem::Malformed("it does not begin with a tree"))?;
    let mut parents = Vec::new();
    while let Some(parent) = lines.id_line(b"parent ") {
        parents.push(parent);
    }
    let author =
        lines.person(b"author ").ok_or(Problem::Malformed("no regular author follows the parents"))?;
    let committer =
        lines.person(b"committer ").ok_or(Problem::Malformed("no regular committer follows the author"))?;
    let mut block: Option<(usize, usize)> = None;
    let mut encodings = 0;
    let message = loop {
        let start = lines.at;
        let line = lines.next().ok_or(Problem::Malformed("no blank line precedes the message"))?;
        if line.is_empty() {
            break lines.at;
        }
        let name = header_name(line)?;
        lines.skip_continuation();
        match name {
            b"gpgsig" if block.is_some() => return Err(Problem::MultipleSignatures),
            b"gpgsig" => block = Some((start, lines.at)),
            b"gpgsig-sha256" => return Err(Problem::Sha256Signature),
            b"encoding" => encodings += 1,
            _ => {}
        }
    };
    if encodings > 1 {
        return Err(Problem::Malformed("it names two encodings"));
    }
    let signature = block.map(|(start, end)| take_out(raw, start, end)).transpose()?;
    let subject =
        String::from_utf8_lossy(raw[message..].split(|byte| *byte == b'\n').next().unwrap_or_default());
    Ok(Commit { tree, parents, author, committer, signature, subject: subject.trim_end().to_owned() })
}

/// Returns the parents that follow a commit's first line; nothing if these lines are malformed.
///
/// Laxer than [`parse`], for commits of the history that are only walked through: what follows the parents
/// does not matter there, and old histories hold irregular authors.
pub(crate) fn raw_parents(raw: &[u8]) -> Option<Vec<Oid>> {
    let mut lines = Lines { raw, at: 0 };
    lines.id_line(b"tree ")?;
    let mut parents = Vec::new();
    while let Some(parent) = lines.id_line(b"parent ") {
        parents.push(parent);
    }
    let rest = &raw[lines.at..];
    rest.starts_with(b"author ").then_some(parents)
}

/// Reads the name of a header that may follow the committer.
fn header_name(line: &[u8]) -> Result<&[u8], Problem> {
    let end =
        line.iter().position(|byte| *byte == b' ').ok_or(Problem::Malformed("a header has no value"))?;
    let (name, value) = (&line[..end], &line[end + 1..]);
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
    if name.is_empty() || !name.iter().all(legal) {
        return Err(Problem::Malformed("a header has no regular name"));
    }
    let lower = name.to_ascii_lowercase();
    if matches!(&*lower, b"tree" | b"parent" | b"author" | b"committer") {
        return Err(Problem::Malformed("tree, parent, author or committer is repeated or out of order"));
    }
    // Git leaves every header that begins with `gpgsig` out of the signed bytes.
    let known = matches!(name, b"gpgsig" | b"gpgsig-sha256");
    if lower.starts_with(b"gpgsig") && !known {
        return Err(Problem::Malformed("a header looks like a signature and is none"));
    }
    if name == b"gpgsig" && !value.starts_with(BEGIN.as_bytes()) {
        return Err(Problem::Malformed("its signature does not begin with an armor line"));
    }
    Ok(name)
}

/// Cuts the signature header out of the commit. What remains is what was signed, byte for byte.
fn take_out(raw: &[u8], start: usize, end: usize) -> Result<Signature, Problem> {
    let header = &raw[start..end];
    if header.contains(&b'\r') {
        return Err(Problem::Malformed("its signature holds carriage returns"));
    }
    let value = &header[b"gpgsig ".len()..];
    let mut armored = Vec::with_capacity(value.len());
    for (index, line) in value.split_inclusive(|byte| *byte == b'\n').enumerate() {
        armored.extend_from_slice(if index == 0 { line } else { &line[1..] });
    }
    let signature = Signature { armored, payload: [&raw[..start], &raw[end..]].concat() };
    if signature.put_back(start) == raw {
        Ok(signature)
    } else {
        Err(Problem::Malformed("its signature is irregular"))
    }
}

impl Signature {
    /// Writes the commit again with the signature in its place.
    fn put_back(&self, at: usize) -> Vec<u8> {
        let mut raw = self.payload[..at].to_vec();
        for (index, line) in self.armored.split_inclusive(|byte| *byte == b'\n').enumerate() {
            raw.extend_from_slice(if index == 0 { b"gpgsig " } else { b" " });
            raw.extend_from_slice(line);
        }
        raw.extend_from_slice(&self.payload[at..]);
        raw
    }
}

/// Reads lines that end with a line feed.
struct Lines<'a> {
    raw: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        let rest = &self.raw[self.at..];
        rest.iter().position(|byte| *byte == b'\n').map(|end| &rest[..end])
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        self.at += line.len() + 1;
        Some(line)
    }

    fn value(&mut self, prefix: &[u8]) -> Option<&'a [u8]> {
        let value = self.peek()?.strip_prefix(prefix)?;
        self.next();
        Some(value)
    }

    fn skip_continuation(&mut self) {
        while self.peek().is_some_and(|line| line.first() == Some(&b' ')) {
            self.next();
        }
    }

    /// Reads a line of a prefix and 40 lower-case hex digits.
    fn id_line(&mut self, prefix: &[u8]) -> Option<Oid> {
        let digits = self.peek()?.strip_prefix(prefix)?;
        let legal = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        if digits.len() != 40 || !digits.iter().all(legal) {
            return None;
        }
        let id = Oid::from_str(std::str::from_utf8(digits).ok()?).ok()?;
        self.next();
        Some(id)
    }

    /// Reads `Name <address> seconds zone`.
    fn person(&mut self, prefix: &[u8]) -> Option<Person> {
        let line = self.value(prefix)?;
        let open = line.iter().position(|byte| *byte == b'<')?;
        let close = open + line[open..].iter().position(|byte| *byte == b'>')?;
        let (name, address, rest) = (&line[..open], &line[open + 1..close], &line[close + 1..]);
        let plain = |text: &[u8]| !text.iter().any(|byte| matches!(byte, b'<' | b'>' | b'\r'));
        if !(name.is_empty() || name.ends_with(b" ")) || !plain(name) || !plain(address) {
            return None;
        }
        let (time, zone) = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?.split_once(' ')?;
        let digits = |text: &str, most: usize| {
            !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !digits(time, 12)
            || !zone.strip_prefix(['+', '-']).is_some_and(|zone| zone.len() >= 4 && digits(zone, 6))
        {
            return None;
        }
        let who = format!("{}<{}>", String::from_utf8_lossy(name), String::from_utf8_lossy(address));
        Some(Person { who, time: time.parse().ok()? })
    }
}
