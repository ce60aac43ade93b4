//! Rollouts and smoke probes on a real API server with its real controllers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "the helpers of a test may fail it")]

mod bed;
mod probing;
mod spread;
mod strategies;
mod waiting;
