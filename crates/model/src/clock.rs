//! Time as an input: libraries never read the clock.

use jiff::Timestamp;

/// Gives the current time; the binary passes the real clock, tests a fixed one.
#[derive(Clone, Copy)]
pub struct Clock(fn() -> Timestamp);

impl Clock {
    /// Wraps a function that tells the time.
    pub fn new(now: fn() -> Timestamp) -> Self {
        Self(now)
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}
