//! Waiting for what happens elsewhere.

use std::time::{Duration, Instant};

/// How many times as long a busy machine may take.
const PATIENCE: u64 = 3;

/// Asks until the answer comes. That takes up to `seconds` on a machine that has nothing else to do; only three times as
/// long is too long.
///
/// # Panics
/// When the time is over; `what` says what was waited for.
#[track_caller]
pub fn until<T>(seconds: u64, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let seconds = seconds * PATIENCE;
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {seconds} s in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
