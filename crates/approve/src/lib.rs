//! Stage 4: evidence that a human has approved this very plan.
//!
//! An approval is a small document that lists the digest of every effect of a plan, signed with the
//! approver's SSH key. [`judge()`] measures approvals against the plan that was just computed: one that was
//! given for other effects never counts, one that covers more than is left to do still does, so that an
//! interrupted run resumes. The commit itself decides nothing here: rules, approvers and their keys come
//! from the environment file.

mod confirm;
mod difference;
mod document;
mod judge;
mod keys;
mod person;
mod plan_file;
mod rejection;
mod requirement;
mod rules;
#[cfg(test)]
mod samples;
mod sign;

pub use confirm::{ConfirmError, Declined, TYPED_DIGITS, confirm};
pub use difference::beyond;
pub use document::{Document, DocumentError, SignedApproval, load_directory};
pub use judge::{Judgement, judge};
pub use keys::{KeyError, check_keys};
pub use rejection::{RejectedApproval, Rejection};
pub use requirement::requirement;
pub use rules::Rules;
pub use sign::{Consent, SignError, draft, message, new_nonce, sign};
