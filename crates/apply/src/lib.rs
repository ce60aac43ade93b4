//! Stage 5: carrying out an approved plan, and pruning after the rollouts.
//!
//! [`apply()`] writes what the plan says and nothing else, unit by unit and rank by rank. [`prune()`] deletes, much
//! later, what the plan says should go, if the evidence for it still holds at that moment. Both write before
//! anything else who belongs to whom: a set's parent is widened before its members are written, and made
//! narrower after the last of them is gone, so that a crash at any point leaves nothing that no set knows.

mod applied;
mod apply;
mod context;
mod definition;
mod error;
mod evidence;
mod failure;
mod instances;
mod inventory;
mod losses;
mod migrate;
mod order;
mod parents;
mod prune;
mod remove;
mod residents;
mod retain;
mod users;
mod webhook;
mod work;
mod write;

pub use applied::{Applied, Kept, Live, Pruned};
pub use apply::apply;
pub use context::Context;
pub use error::{ApplyError, ObjectFailure};
pub use prune::{prune, prune_within};
