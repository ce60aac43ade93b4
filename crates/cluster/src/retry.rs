//! Which requests are sent again after which failure, and when.
//!
//! | request | sent again by the transport | sent again by whoever wrote it |
//! |---|---|---|
//! | read, dry-run | after everything temporary: it changes nothing | – |
//! | create | after a 429: the server did not look at it | once it was looked up and is not there |
//! | apply with a uid, delete with a uid | after a 429 | after everything temporary: it does the same twice |
//! | replace with a version | after a 429 | from the object as it is then |
//!
//! A write whose answer was lost may have landed, so it is repeated only where the journal shows it, see
//! [`ClusterError::pause_before_repeat`]. How long the server asks to wait is obeyed, up to a limit.

use std::time::Duration;

use crate::effect::Effect;
use crate::{ClusterError, Failure, FailureKind};

/// How often one request is sent at most.
const ATTEMPTS: u32 = 6;
/// How often a write is repeated that may have landed: about six seconds, a restart of the API server.
const REPEATS: u32 = 4;
/// A server may ask to wait for hours; a run would rather fail and say so.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Returns how long to wait before a request is sent again, or `None` if it is not. `attempt` counts from 1.
pub(crate) fn pause_before_next(error: &ClusterError, effect: Effect, attempt: u32) -> Option<Duration> {
    if attempt >= ATTEMPTS {
        return None;
    }
    let back_off = Duration::from_millis(100 << attempt);
    let harmless = effect != Effect::Write;
    match error {
        // Whoever denies chooses the code, and would deny again.
        ClusterError::Api { failure, .. } if failure.denier().is_some() => None,
        ClusterError::Api { failure, .. } if failure.code == 429 => asked_for(failure, back_off),
        // A dead webhook stays dead for longer than a dry-run may wait, and it answers for every object.
        ClusterError::Api { failure, .. } if failure.kind() == FailureKind::WebhookFailed => {
            (harmless && attempt == 1).then_some(back_off)
        }
        ClusterError::Api { failure, .. } if harmless && failure.is_transient() => {
            asked_for(failure, back_off)
        }
        // A refused connection answers at once; a server that restarts is back within seconds.
        ClusterError::Unreachable { .. } if harmless && attempt < 3 => Some(back_off),
        _ => None,
    }
}

impl ClusterError {
    /// Returns how long to wait before a write that ended so is made sure of and sent again, or `None` if that
    /// would not help. `attempt` counts from 1.
    ///
    /// Only for writes that do the same twice: those that name a uid, and creations once they were looked up.
    pub fn pause_before_repeat(&self, attempt: u32) -> Option<Duration> {
        if attempt > REPEATS {
            return None;
        }
        let back_off = Duration::from_millis(200 << attempt);
        match self {
            // It was waited for already, for as long as a request may take.
            Self::Api { failure, .. } if failure.code == 429 => None,
            Self::Api { failure, .. } if self.may_have_landed() || failure.is_transient() => {
                asked_for(failure, back_off)
            }
            Self::Api { .. } => None,
            _ => self.may_have_landed().then_some(back_off),
        }
    }
}

/// Returns how long the server asks to wait, at least `back_off`; `None` if that is too long.
fn asked_for(failure: &Failure, back_off: Duration) -> Option<Duration> {
    let asked = failure.retry_after.map_or(back_off, Duration::from_secs);
    (asked <= LONGEST_PAUSE).then_some(asked.max(back_off))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16, retry_after: Option<u64>) -> ClusterError {
        ClusterError::Api { what: String::new(), failure: Box::new(Failure::parse(code, b"", retry_after)) }
    }

    fn denied(code: u16, reason: &str) -> ClusterError {
        let status = serde_json::json!({"kind": "Status", "reason": reason, "details": {"retryAfterSeconds": 1},
            "message": "admission webhook \"v.dev\" denied the request: no"});
        let failure = Failure::parse(code, status.to_string().as_bytes(), None);
        ClusterError::Api { what: String::new(), failure: Box::new(failure) }
    }

    fn final_500() -> ClusterError {
        let status = serde_json::json!({"kind": "Status", "reason": "InternalError", "message": "odd"});
        let failure = Failure::parse(500, status.to_string().as_bytes(), None);
        ClusterError::Api { what: String::new(), failure: Box::new(failure) }
    }

    fn timeout() -> ClusterError {
        ClusterError::Timeout { what: String::new(), seconds: 1 }
    }

    #[test]
    fn only_what_is_harmless_is_repeated() {
        let check = |error: &ClusterError, effect, attempt, want: bool| {
            assert_eq!(
                pause_before_next(error, effect, attempt).is_some(),
                want,
                "{error} {effect:?} {attempt}"
            );
        };
        check(&api(429, Some(1)), Effect::Write, 1, true);
        check(&api(429, Some(1)), Effect::Write, ATTEMPTS, false);
        check(&api(429, Some(3600)), Effect::Read, 1, false);
        check(&api(503, None), Effect::Read, 1, true);
        check(&api(503, None), Effect::DryRun, 1, true);
        check(&api(503, None), Effect::Write, 1, false);
        check(&final_500(), Effect::Read, 1, false);
        check(&api(409, None), Effect::Read, 1, false);
        check(&timeout(), Effect::DryRun, 1, false);
    }

    /// Whoever denies chooses the code: 429 and 503 are among them.
    #[test]
    fn a_denial_is_final_whatever_its_code() {
        let codes = [401, 403, 404, 409, 422, 429, 500, 503, 504];
        let reasons = ["", "Timeout", "ServerTimeout", "TooManyRequests", "ServiceUnavailable"];
        for (code, reason) in codes.iter().flat_map(|code| reasons.map(|reason| (*code, reason))) {
            let error = denied(code, reason);
            for effect in [Effect::Read, Effect::DryRun, Effect::Write] {
                assert_eq!(pause_before_next(&error, effect, 1), None, "{code} {reason} {effect:?}");
            }
            assert_eq!(error.pause_before_repeat(1), None, "{code} {reason}");
            assert!(!error.may_have_landed(), "{code} {reason}");
            assert_eq!(error.exit_code(), windlass_model::ExitCode::Refused, "{code} {reason}");
        }
    }

    #[test]
    fn the_server_says_how_long_to_wait() {
        let check = |code, retry_after, want: Option<u64>| {
            let pause = pause_before_next(&api(code, retry_after), Effect::Read, 1);
            assert_eq!(pause.map(|pause| pause.as_secs()), want, "{code} {retry_after:?}");
        };
        check(429, Some(7), Some(7));
        check(429, Some(0), Some(0));
        check(503, Some(7), Some(7));
        check(503, Some(21), None);
    }

    #[test]
    fn a_write_is_made_sure_of_where_its_outcome_is_unknown() {
        let check = |error: &ClusterError, attempt, want: bool| {
            assert_eq!(error.pause_before_repeat(attempt).is_some(), want, "{error} {attempt}");
        };
        check(&timeout(), 1, true);
        check(&timeout(), REPEATS, true);
        check(&timeout(), REPEATS + 1, false);
        check(&api(503, None), 1, true);
        check(&api(503, Some(3600)), 1, false);
        check(&api(429, Some(1)), 1, false);
        check(&api(409, None), 1, false);
        check(&api(422, None), 1, false);
        let other = ClusterError::OtherCluster { found: String::new(), expected: String::new() };
        check(&other, 1, false);
    }
}
