//! Stage 2: are all expected policies present and enforced right now?
//!
//! What an object says about itself is read first, because it explains; but only a refusal proves
//! enforcement: Gatekeeper's status keeps saying "enforced" while nobody answers for its webhook, which
//! then lets everything pass (measured with 3.23). So every policy comes with an object that it must
//! refuse, and that object is sent as a dry-run. Whatever is not known counts as a no.

mod admission;
mod check;
mod error;
mod fields;
mod finding;
mod gatekeeper;
mod proof;

pub use check::{check, read};
pub use error::GateError;
pub use finding::{Class, Finding};
