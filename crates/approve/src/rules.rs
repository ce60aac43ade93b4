//! What an approval is measured against.

use jiff::Timestamp;
use windlass_settings::ApprovalRules;

/// The rules of the environment and the facts of the run.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// When an approval is needed, who may give it, how long it counts.
    pub approval: &'a ApprovalRules,
    /// The author line of the commit, `Name <address>`, where it is known.
    pub author: Option<&'a str>,
    /// Who started the run, where it is known: a name or an address.
    pub trigger: Option<&'a str>,
    /// The current time.
    pub now: Timestamp,
    /// The nonces that earlier runs of the environment have used up.
    pub consumed: &'a [String],
}
