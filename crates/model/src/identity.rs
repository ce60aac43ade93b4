//! Names of environments, clusters and runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of an environment, a DNS label such as `prd`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(transparent)]
pub struct EnvironmentName(String);

impl EnvironmentName {
    /// Takes a name that is a DNS label of at most 40 characters, so that names derived from it stay legal.
    pub fn new(name: &str) -> Option<Self> {
        is_dns_label(name, 40).then(|| Self(name.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which cluster a plan is for: the uid of its `kube-system` namespace, which never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterId {
    /// The uid of the namespace `kube-system`.
    pub uid: String,
    /// The address of the API server, for people.
    pub server: String,
    /// The server's version, such as `v1.36.3`.
    pub version: String,
}

/// The id of one run: start time and four random characters, sortable and a legal object name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Makes an id such as `20261130-164536-k3f9` from the start time and four random characters.
    pub fn new(started: jiff::Timestamp, suffix: &str) -> Self {
        Self(format!("{}-{suffix}", started.strftime("%Y%m%d-%H%M%S")))
    }

    /// Returns when the run started; `None` if the id does not say so.
    pub fn started(&self) -> Option<jiff::Timestamp> {
        let (stamp, _) = self.0.rsplit_once('-')?;
        let time = jiff::civil::DateTime::strptime("%Y%m%d-%H%M%S", stamp).ok()?;
        Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    }

    /// Takes an id as a user typed it.
    pub fn parse(text: &str) -> Option<Self> {
        is_dns_label(text, 40).then(|| Self(text.to_owned()))
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says whether a text is a DNS label (RFC 1123) of at most `max` characters.
pub(crate) fn is_dns_label(text: &str, max: usize) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= max
        && text.chars().all(legal)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_when_it_started() {
        let started = jiff::Timestamp::from_second(1_800_000_000).ok();
        let run = RunId::new(started.unwrap(), "k3f9");
        assert_eq!(run.started(), started);
        for other in ["r1", "k3f9", "20261130-164536", "20261330-164536-k3f9"] {
            assert_eq!(RunId::parse(other).unwrap().started(), None, "{other}");
        }
    }

    #[test]
    fn environment_names() {
        for (name, legal) in
            [("prd", true), ("a-1", true), ("", false), ("Prd", false), ("-a", false), ("a_b", false)]
        {
            assert_eq!(EnvironmentName::new(name).is_some(), legal, "{name}");
        }
        assert!(EnvironmentName::new(&"a".repeat(41)).is_none());
    }
}
