//! Waiting for what happens elsewhere.

use std::time::{Duration, Instant};

/// Asks until the answer comes, at most for this many seconds.
///
/// # Panics
/// When the time is over; `what` says what was waited for.
#[track_caller]
pub fn until<T>(seconds: u64, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {seconds} s in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
