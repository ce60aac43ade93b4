//! What `metadata.managedFields` says: who wrote which fields, how and when.

mod declared;
mod edit;
mod entry;
mod foretell;
mod merge;
mod place;
mod prune;
mod set;
mod step;
mod text;

pub use edit::{carry, strip};
pub use entry::ManagedEntry;
pub(crate) use entry::Stored;
pub use foretell::{Foretold, foretell};
pub use merge::{Settle, is_zero};
pub use place::Place;
pub use prune::{Emptied, prune_fields};
pub use set::FieldSet;
