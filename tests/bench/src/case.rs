//! What is measured, whoever does it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One thing that every tool is asked for in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Case {
    /// Read every object of the set's kinds.
    List,
    /// Bring the set to an empty cluster.
    First,
    /// Say what would change, when nothing would.
    Plan,
    /// The same once more, for tools that remember.
    Remembered,
    /// Say what would change, when one object in a hundred would.
    Changed,
    /// Bring the same set again.
    Again,
    /// The same once more, for tools that remember.
    AgainRemembered,
}

impl Case {
    /// Returns the name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::List => "list of everything",
            Self::First => "first apply",
            Self::Plan => "plan, nothing changed",
            Self::Remembered => "plan, nothing changed, remembered",
            Self::Changed => "plan, 1 % changed",
            Self::Again => "apply again, nothing changed",
            Self::AgainRemembered => "apply again, nothing changed, remembered",
        }
    }

    /// Returns what a tool without memory does instead.
    pub(crate) fn without_memory(self) -> Self {
        match self {
            Self::Remembered => Self::Plan,
            Self::AgainRemembered => Self::Again,
            other => other,
        }
    }

    /// Returns the case that fills the memory for this one.
    pub(crate) fn stands_on(self) -> Option<Self> {
        match self {
            Self::Remembered | Self::Changed => Some(Self::Plan),
            Self::AgainRemembered => Some(Self::Again),
            Self::List | Self::First | Self::Plan | Self::Again => None,
        }
    }
}
