//! The end-to-end tests: the real binary against the real control plane. One binary, so that linking happens once.
//!
//! They need a running control plane: start them through `make test`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::tests_outside_test_module,
    reason = "this is a test binary: helpers of tests are tests too"
)]

mod adoption;
mod boundaries;
mod commands;
mod delivery;
mod documentation;
mod drift;
mod faults;
mod footprint;
mod interruption;
mod leash;
mod looking;
mod manifests_as_found;
mod memory;
mod operators;
mod ownership;
mod pairs;
mod plan;
mod prune;
mod publishers;
mod refusals;
mod remotes;
mod replanning;
mod repository_file;
mod requests;
mod retained;
mod rewrite;
mod rollback;
mod secrets;
mod sets;
mod smoke;
mod team;
mod terminal;
mod units;
mod upgrades;

/// Reads one field of every object of a list.
fn names(list: &serde_json::Value) -> Vec<String> {
    let items = list["items"].as_array().into_iter().flatten();
    items.map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}
