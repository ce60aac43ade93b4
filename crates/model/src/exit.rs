//! Exit codes: public API, tested as such.

use serde::{Deserialize, Serialize};

/// Says how a command ended; the number is the process's exit code.
///
/// | code | name | safe to run again |
/// |---|---|---|
/// | 0 | ok | yes |
/// | 1 | error | yes |
/// | 2 | changes | yes |
/// | 3 | approval-required | yes, after approval |
/// | 4 | refused | after the cause is mended |
/// | 5 | stale | yes: plan again |
/// | 6 | locked | yes |
/// | 7 | apply-failed | yes |
/// | 8 | rollout-failed | see the report |
/// | 9 | smoke-failed | see the report |
/// | 10 | interrupted | yes: it resumes |
/// | 11 | needs-human | see the report |
/// | 64 | usage | – |
/// | 65 | bad-input | – |
/// | 69 | unreachable | yes |
/// | 77 | forbidden | – |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ExitCode {
    /// Done, or nothing to do.
    Ok = 0,
    /// Unexpected error.
    Error = 1,
    /// `drift` found drift, or `plan --detailed-exitcode` found changes.
    Changes = 2,
    /// No approval for this plan.
    ApprovalRequired = 3,
    /// Signature, policy gate or a guard said no.
    Refused = 4,
    /// The approved effect is no longer the effect.
    Stale = 5,
    /// Another run holds the lock, or ours was lost.
    Locked = 6,
    /// Some objects were applied, nothing was pruned.
    ApplyFailed = 7,
    /// A workload failed, is stuck or timed out.
    RolloutFailed = 8,
    /// A probe failed.
    SmokeFailed = 9,
    /// Stopped by a signal; the next run resumes.
    Interrupted = 10,
    /// Reserved: an operator waits for a person.
    NeedsHuman = 11,
    /// The command line is wrong.
    Usage = 64,
    /// A file, commit or manifest is wrong.
    BadInput = 65,
    /// The API server, or the repository, cannot be reached.
    Unreachable = 69,
    /// The identity lacks a right.
    Forbidden = 77,
}

impl ExitCode {
    /// All codes in ascending order.
    pub const ALL: [Self; 16] = [
        Self::Ok,
        Self::Error,
        Self::Changes,
        Self::ApprovalRequired,
        Self::Refused,
        Self::Stale,
        Self::Locked,
        Self::ApplyFailed,
        Self::RolloutFailed,
        Self::SmokeFailed,
        Self::Interrupted,
        Self::NeedsHuman,
        Self::Usage,
        Self::BadInput,
        Self::Unreachable,
        Self::Forbidden,
    ];

    /// Returns the number that the process exits with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the stable name used in JSON and documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Changes => "changes",
            Self::ApprovalRequired => "approval-required",
            Self::Refused => "refused",
            Self::Stale => "stale",
            Self::Locked => "locked",
            Self::ApplyFailed => "apply-failed",
            Self::RolloutFailed => "rollout-failed",
            Self::SmokeFailed => "smoke-failed",
            Self::Interrupted => "interrupted",
            Self::NeedsHuman => "needs-human",
            Self::Usage => "usage",
            Self::BadInput => "bad-input",
            Self::Unreachable => "unreachable",
            Self::Forbidden => "forbidden",
        }
    }

    /// Returns what the code means, as one line for the reference page.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done, or nothing to do",
            Self::Error => "unexpected error",
            Self::Changes => "`drift` found drift, or `plan --detailed-exitcode` found changes",
            Self::ApprovalRequired => "no approval for this plan",
            Self::Refused => "signature, policy gate or a guard said no",
            Self::Stale => "the approved effect is no longer the effect",
            Self::Locked => "another run holds the lock, or ours was lost",
            Self::ApplyFailed => "some objects applied, nothing pruned",
            Self::RolloutFailed => "a workload failed, is stuck or timed out",
            Self::SmokeFailed => "a probe failed",
            Self::Interrupted => "stopped by a signal",
            Self::NeedsHuman => "reserved: an operator waits for a person",
            Self::Usage => "the command line is wrong",
            Self::BadInput => "a file, commit or manifest is wrong",
            Self::Unreachable => "the API server or the repository cannot be reached",
            Self::Forbidden => "the identity lacks a right",
        }
    }

    /// Says whether, and when, running the same command again is safe.
    pub fn safe_again(self) -> &'static str {
        match self {
            Self::Ok | Self::Error | Self::Changes | Self::Locked | Self::ApplyFailed | Self::Unreachable => {
                "yes"
            }
            Self::ApprovalRequired => "yes, after approval",
            Self::Refused | Self::BadInput => "after the cause is mended",
            Self::Stale => "yes: plan again",
            Self::RolloutFailed | Self::SmokeFailed | Self::NeedsHuman => "see the report",
            Self::Interrupted => "yes: it resumes",
            Self::Usage => "after correcting the command",
            Self::Forbidden => "after the right is granted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_public_api() {
        let got: Vec<(u8, &str)> = ExitCode::ALL.iter().map(|c| (c.code(), c.name())).collect();
        let want = [
            (0, "ok"),
            (1, "error"),
            (2, "changes"),
            (3, "approval-required"),
            (4, "refused"),
            (5, "stale"),
            (6, "locked"),
            (7, "apply-failed"),
            (8, "rollout-failed"),
            (9, "smoke-failed"),
            (10, "interrupted"),
            (11, "needs-human"),
            (64, "usage"),
            (65, "bad-input"),
            (69, "unreachable"),
            (77, "forbidden"),
        ];
        assert_eq!(got, want);
    }
}
