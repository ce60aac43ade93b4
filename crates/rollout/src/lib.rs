//! Stages 6 and 7: did every workload really become ready, and do the applications answer?
//!
//! Whether an object is ready is decided by [`judge()`], a pure function of what was observed. [`wait()`] only
//! observes: it reads every collection once, then watches it, and asks the judge again after each change.
//! Causes that will not go away by waiting end the wait early, but only after they have lasted for a while
//! ([`Grace`]): tools that failed at the first sign of trouble had to take it back (krane issue 885, kapp
//! issue 994).

mod ailment;
mod collection;
mod diagnose;
mod error;
mod feed;
mod fields;
mod judge;
mod mirror;
mod patience;
mod pods;
mod rescue;
mod smoke;
mod target;
mod verdict;
mod wait;

pub use ailment::{Ailment, Cause, Grace};
pub use error::{Failure, RolloutError, Unfinished};
pub use judge::{Observed, judge};
pub use smoke::{ProbeFailure, ProbeResult, SmokeError, SmokeOptions, SmokePassed, smoke};
pub use target::{Target, is_left_to_operator, is_waited_for, targets};
pub use verdict::Verdict;
pub use wait::{Options, RolledOut, wait};
