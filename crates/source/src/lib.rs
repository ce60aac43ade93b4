//! Stage 1: fetches a commit, reads it by object id and verifies it against trust and branch.
//!
//! A signature by a forge's key proves only that the forge made the object: test merges of unreviewed pull
//! requests carry it too. So a commit passes only when a pinned key signed it *and* it is, or was, the tip
//! of the protected branch: it lies on the first-parent chain of the tip that the server reports now.
//!
//! The network is left to the `git` program; everything that is decided is decided on raw object bytes
//! whose hash is computed again here. See [`fetch_and_verify`].

mod address;
mod cache;
mod commit;
mod error;
mod git;
mod history;
mod names;
mod objects;
mod refusal;
mod request;
mod stage;
#[cfg(test)]
mod tests;
mod tree;

pub use error::{FetchProblem, SourceError};
pub use history::Position;
pub use refusal::Refusal;
pub use request::{Request, Wanted};
pub use stage::{Unsigned, Verified, fetch_and_verify, fetch_unsigned};
