//! Tests with real repositories, the real `git` and the real `gpg`.

mod branch;
mod commits;
mod copy;
mod fetching;
mod known_answers;
mod platform;
#[path = "../../../trust/tests/all/signer.rs"]
mod signer;
mod signing;
mod trees;
