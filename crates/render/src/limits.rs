//! How much rendering may cost.

use std::time::Duration;

/// How much rendering one unit may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long the renderer may run, in wall-clock time.
    pub time: Duration,
    /// How much address space the renderer may use, in bytes.
    pub memory: u64,
    /// How much the renderer may write to its standard output, in bytes.
    pub output: usize,
}

impl Default for Limits {
    /// One minute (4 184 public directories: maximum 5.6 s), 3 GiB (Go reserves address space generously), 64 MiB.
    fn default() -> Self {
        Self { time: Duration::from_mins(1), memory: 3 << 30, output: 64 << 20 }
    }
}
