//! What the judge says about one object.

use crate::Ailment;

/// Whether an object is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Ready {
        /// What is worth knowing nevertheless: paused, superseded, pods left on an old revision.
        notes: Vec<String>,
    },
    /// Not yet.
    Waiting {
        /// What is missing.
        reason: String,
    },
    /// Not yet, and something stands in the way that waiting alone may not remove.
    Ailing {
        /// What stands in the way; never empty.
        ailments: Vec<Ailment>,
    },
    /// It will not become ready.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    pub(crate) fn ready() -> Self {
        Self::Ready { notes: Vec::new() }
    }

    pub(crate) fn noted(note: impl Into<String>) -> Self {
        Self::Ready { notes: vec![note.into()] }
    }

    pub(crate) fn waiting(reason: impl Into<String>) -> Self {
        Self::Waiting { reason: reason.into() }
    }

    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into() }
    }

    /// Returns the ailments' verdict, or waits if there are none.
    pub(crate) fn ailing_or_waiting(ailments: Vec<Ailment>, reason: impl Into<String>) -> Self {
        if ailments.is_empty() { Self::waiting(reason) } else { Self::Ailing { ailments } }
    }

    /// Says whether the object is ready.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }

    /// Returns what is missing or wrong, in one line; empty for a ready object.
    pub fn reason(&self) -> &str {
        match self {
            Self::Ready { .. } => "",
            Self::Waiting { reason } | Self::Failed { reason } => reason,
            Self::Ailing { ailments } => ailments.first().map_or("", |ailment| &ailment.reason),
        }
    }
}
