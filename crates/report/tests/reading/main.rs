//! Plans as they are read, in every form.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod browser;
mod forms;
mod samples;
mod schema;
mod untrusted;
