//! What a program asked the API server, counted from the audit log.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;

use serde::Deserialize;

use crate::set::NAMESPACE;

/// The only user who is not a part of the control plane.
const USER: &str = "testbed-admin";

/// A place in the audit log.
#[derive(Debug)]
pub(crate) struct Mark {
    log: PathBuf,
    from: u64,
}

/// What was asked since then.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Requests {
    /// How many by verb; dry-runs and discovery are verbs of their own.
    pub(crate) verbs: BTreeMap<String, usize>,
    /// How many changed objects of the set.
    pub(crate) writes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    #[serde(rename = "requestURI")]
    uri: String,
    verb: String,
    user: User,
    object_ref: Option<ObjectRef>,
}

#[derive(Debug, Deserialize)]
struct User {
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    namespace: String,
    name: String,
}

impl Mark {
    /// Marks the end of a log.
    pub(crate) fn new(log: PathBuf) -> io::Result<Self> {
        let from = log.metadata()?.len();
        Ok(Self { log, from })
    }

    /// Counts the requests since then that were answered.
    pub(crate) fn requests(&self) -> io::Result<Requests> {
        let mut file = File::open(&self.log)?;
        file.seek(SeekFrom::Start(self.from))?;
        count(BufReader::new(file))
    }
}

fn count(log: impl io::BufRead) -> io::Result<Requests> {
    let mut requests = Requests::default();
    for line in log.lines() {
        // The last line may still be being written.
        let Ok(event) = serde_json::from_str::<Event>(&line?) else { continue };
        if event.stage == "ResponseComplete" && event.user.username == USER {
            *requests.verbs.entry(event.shown_verb().to_owned()).or_default() += 1;
            requests.writes += usize::from(event.writes_to_the_set());
        }
    }
    Ok(requests)
}

impl Event {
    fn shown_verb(&self) -> &str {
        match &self.object_ref {
            None => "discovery",
            Some(_) if self.is_dry_run() => "dry-run",
            Some(_) => &self.verb,
        }
    }

    fn is_dry_run(&self) -> bool {
        self.uri.contains("dryRun=All")
    }

    fn writes_to_the_set(&self) -> bool {
        let Some(object) = &self.object_ref else { return false };
        let within = if object.resource == "namespaces" { &object.name } else { &object.namespace };
        let verb = self.verb.as_str();
        ["create", "update", "patch", "delete"].contains(&verb)
            && !self.is_dry_run()
            && within.starts_with(NAMESPACE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_counted_by_what_they_are() {
        let event = |user: &str, verb: &str, uri: &str, object: Option<(&str, &str, &str)>| {
            let object =
                object.map(|(resource, namespace, name)| json!({"resource": resource, "namespace": namespace, "name": name}));
            json!({"stage": "ResponseComplete", "user": {"username": user}, "verb": verb, "requestURI": uri, "objectRef": object})
                .to_string()
        };
        let map = Some(("configmaps", "bench-0", "a"));
        let lines = [
            event(USER, "get", "/apis", None),
            event(USER, "patch", "/api/v1/namespaces/bench-0/configmaps/a?dryRun=All&force=true", map),
            event(USER, "patch", "/api/v1/namespaces/bench-0/configmaps/a?force=true", map),
            event(USER, "create", "/api/v1/namespaces", Some(("namespaces", "bench-1", "bench-1"))),
            event(
                USER,
                "update",
                "/api/v1/namespaces/record/configmaps/r",
                Some(("configmaps", "record", "r")),
            ),
            event("system:kube-controller-manager", "create", "/api/v1/namespaces/bench-0/configmaps", map),
            "{\"stage\": \"Respon".to_owned(),
        ];
        let requests = count(lines.join("\n").as_bytes()).unwrap();
        let verbs = ["create", "discovery", "dry-run", "patch", "update"].map(|verb| (verb.to_owned(), 1));
        assert_eq!(requests, Requests { verbs: verbs.into(), writes: 2 });
    }
}
