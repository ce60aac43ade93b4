//! Fields that others own, that rules leave alone, and whose ownership has to move first.

mod foreseen;
mod rules;
mod sent;

pub(crate) use foreseen::{Foreseen, emptied, has_migration};
pub use rules::FieldRules;
pub(crate) use sent::{Sent, kept, sent, visible, winner};
