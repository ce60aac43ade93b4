//! HTTP/1.1 on a connection, as far as the proxy must understand it.

use std::io::{self, BufRead, Read as _, Write};

/// The head of a message: its first line and its headers, as they came.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) text: String,
}

impl Head {
    /// Reads a head; `None` if the connection ends before it begins.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut text = String::new();
        loop {
            if from.read_line(&mut text)? == 0 {
                return if text.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            if text.ends_with("\r\n\r\n") {
                return Ok(Some(Self { text }));
            }
        }
    }

    /// Returns the words of the first line.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.lines().next().unwrap_or_default().split(' ')
    }

    fn header(&self, name: &str) -> Option<&str> {
        let headers = self.text.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("chunked"))
    }

    fn length(&self) -> u64 {
        self.header("content-length").and_then(|length| length.parse().ok()).unwrap_or_default()
    }
}

/// Carries the body that belongs to a head, piece by piece, so that a watch is seen at once.
pub(crate) fn carry_body(head: &Head, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    if !head.is_chunked() {
        io::copy(&mut from.take(head.length()), to)?;
        return to.flush();
    }
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        to.write_all(line.as_bytes())?;
        let size = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        // Beside the chunk the line feed that ends it, or the whole body.
        io::copy(&mut from.take(size + 2), to)?;
        to.flush()?;
        if size == 0 {
            return Ok(());
        }
    }
}
