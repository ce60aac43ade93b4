//! Requests to the API server in their own words, through `kubectl proxy`: what no client has interpreted.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A way to the API server as the administrator, closed when dropped.
#[derive(Debug)]
pub struct Raw {
    proxy: Child,
    address: String,
}

/// The server's answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body: an object, a list or a `Status`.
    pub body: Value,
    /// What the server warned of.
    pub warnings: Vec<String>,
}

impl Reply {
    /// Says whether the server did, or would do, what it was asked.
    pub fn is_ok(&self) -> bool {
        matches!(self.status, 200 | 201)
    }

    /// Returns the causes of a refusal.
    pub fn causes(&self) -> &[Value] {
        self.body.pointer("/details/causes").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the server's words.
    pub fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

impl Raw {
    pub(crate) fn start(kubectl: &mut Command) -> Self {
        let mut proxy = kubectl
            .args(["proxy", "--port=0", "--disable-filter"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Self { proxy, address }
    }

    /// Sends a request and waits for the answer.
    ///
    /// It is a request of HTTP/1.0, so that the answer ends with the connection.
    pub fn send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut connection = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\n\
             Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let body = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body));
        // Warning: 299 - "text"
        let warnings = head.lines().filter_map(|line| line.strip_prefix("Warning: ")?.split_once('"'));
        let warnings =
            warnings.map(|(_, text)| text.strip_suffix('"').unwrap_or(text).replace("\\\"", "\"")).collect();
        Reply { status, body, warnings }
    }

    /// Reads an object or a list.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "application/json", &Value::Null)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.proxy.kill().ok();
        self.proxy.wait().ok();
    }
}
