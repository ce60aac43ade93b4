//! What the API server was really asked.

use std::io::{Read as _, Seek as _, SeekFrom};

use serde_json::Value;

use crate::Bed;

/// A place in the audit log: what came before it does not count.
#[derive(Debug, Clone, Copy)]
pub struct Audit {
    from: u64,
}

/// One request that Windlass made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// The verb, such as `patch`.
    pub verb: String,
    /// The resource with its subresource, such as `pods/log`.
    pub resource: String,
    /// The namespace, or nothing.
    pub namespace: String,
    /// The name, or nothing.
    pub name: String,
    /// Whether it was a dry-run.
    pub dry_run: bool,
    /// The status of the answer.
    pub code: i64,
}

impl Request {
    /// Says whether it was meant to change something.
    pub fn writes(&self) -> bool {
        let verbs = ["create", "update", "patch", "delete", "deletecollection"];
        verbs.contains(&self.verb.as_str()) && !self.dry_run && !self.resource.starts_with("selfsubject")
    }
}

impl Audit {
    /// Marks the present end of the log.
    pub fn mark() -> Self {
        Self { from: std::fs::metadata(Bed::get().audit_log()).unwrap().len() }
    }

    /// Returns what Windlass asked since the mark about anything whose name, or namespace, contains `part`, watches
    /// aside. For the id of a run: everything that this run asked.
    ///
    /// Other tests run at the same time: their names contain other parts.
    pub fn requests(self, part: &str) -> Vec<Request> {
        let mut requests = self.everything(part);
        requests.retain(|request| request.verb != "watch");
        requests
    }

    /// Returns what Windlass asked since the mark, watches included.
    pub fn everything(self, part: &str) -> Vec<Request> {
        let mut file = std::fs::File::open(Bed::get().audit_log()).unwrap();
        file.seek(SeekFrom::Start(self.from)).unwrap();
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text);
        let ours =
            text.lines().filter(|line| line.contains("\"userAgent\":\"windlass/") && line.contains(part));
        // The last line may still be being written.
        let events = ours.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.map(|event| request(&event)).collect()
    }

    /// Returns the writes since the mark, except to Windlass's own records.
    pub fn writes_to_members(self, part: &str) -> Vec<Request> {
        let mut writes = self.requests(part);
        writes.retain(|request| request.writes() && request.namespace != "windlass-system");
        writes
    }
}

fn request(event: &Value) -> Request {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (resource, subresource) = (text("/objectRef/resource"), text("/objectRef/subresource"));
    Request {
        verb: text("/verb"),
        resource: if subresource.is_empty() { resource } else { format!("{resource}/{subresource}") },
        namespace: text("/objectRef/namespace"),
        name: text("/objectRef/name"),
        dry_run: text("/requestURI").contains("dryRun=All"),
        code: event.pointer("/responseStatus/code").and_then(Value::as_i64).unwrap_or_default(),
    }
}
