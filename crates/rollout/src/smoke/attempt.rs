//! The outcome of one attempt.

use std::error::Error;

use crate::ProbeResult;

/// Why an attempt did not succeed.
#[derive(Debug)]
pub(super) struct Miss {
    pub(super) result: ProbeResult,
    pub(super) reason: String,
}

impl Miss {
    pub(super) fn wrong(reason: impl Into<String>) -> Self {
        Self { result: ProbeResult::WrongAnswer, reason: reason.into() }
    }

    pub(super) fn none(reason: impl Into<String>) -> Self {
        Self { result: ProbeResult::NoAnswer, reason: reason.into() }
    }

    pub(super) fn unusable(reason: impl Into<String>) -> Self {
        Self { result: ProbeResult::Unusable, reason: reason.into() }
    }
}

/// Returns the words of the cause at the bottom of an error's chain, where the real reason is.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
