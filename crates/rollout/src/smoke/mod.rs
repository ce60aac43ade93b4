//! Stage 7: requests that must succeed after the rollout.

mod address;
mod attempt;
mod error;
mod http;
mod run;
mod tcp;

pub use error::{ProbeFailure, ProbeResult, SmokeError};
pub use run::{SmokeOptions, SmokePassed, smoke};
