//! `windlass.yaml`: how a repository is cut into units, and how to tell that it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ignore::IgnoreRule;
use crate::{Duration, IntendedDeletion};

/// The file `windlass.yaml` at the root of a delivered repository. Without it the convention holds:
/// `infrastructure/stateful` first, then every `apps/*/stateful/<environment>`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repository {
    /// The units. Empty means: by convention.
    #[serde(default)]
    pub units: Vec<UnitSpec>,
    /// Requests that must succeed after the rollout.
    #[serde(default)]
    pub smoke: Vec<Probe>,
    /// Differences that are known and accepted for a time.
    #[serde(default)]
    pub ignore: Vec<IgnoreRule>,
    /// Protected objects that are no longer delivered and are meant to be deleted.
    #[serde(default)]
    pub deletions: Vec<IntendedDeletion>,
}

/// One directory that is rendered, applied and pruned as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnitSpec {
    /// The unit's name: a DNS label. Renaming a unit makes another one of it.
    pub name: String,
    /// The directory; `{env}` stands for the environment's name.
    pub path: String,
    /// Units that must be applied before this one.
    #[serde(default)]
    pub after: Vec<String>,
    /// Environments that have this unit; empty means all.
    #[serde(default)]
    pub environments: Vec<String>,
}

/// A request that must succeed after the rollout. Exactly one of `service` and `url` is given, and exactly
/// one of `http` and `tcp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Probe {
    /// The probe's name.
    pub name: String,
    /// A Service, as `namespace/name`: its load-balancer address is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The Service's port, when `service` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// A fixed address without a path: `http://host`, `https://host` or `tcp://host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// An HTTP or HTTPS request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpProbe>,
    /// A TCP connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpProbe>,
    /// Environments in which the probe is run; empty means all.
    #[serde(default)]
    pub environments: Vec<String>,
    /// How often it is tried before it counts as failed.
    #[serde(default = "five")]
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// The pause between attempts.
    #[serde(default = "two_seconds")]
    pub interval: Duration,
    /// How long one attempt may take.
    #[serde(default = "five_seconds")]
    pub timeout: Duration,
}

fn five() -> u32 {
    5
}

fn two_seconds() -> Duration {
    Duration::from_secs(2)
}

fn five_seconds() -> Duration {
    Duration::from_secs(5)
}

/// An HTTP or HTTPS request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HttpProbe {
    /// The path; `/` if not given.
    pub path: String,
    /// The expected status; 200 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 599))]
    pub status: Option<u16>,
    /// A text that the body must contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// A regular expression that the body must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_matches: Option<String>,
    /// Use TLS, with this server name in the handshake, the certificate check and the `Host` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_name: Option<String>,
    /// The certificate authorities that may have signed, as a PEM file in the repository; the system's if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<String>,
}

/// A TCP connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TcpProbe {
    /// A text that the server must send first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greeting: Option<String>,
}
