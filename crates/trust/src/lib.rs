//! Pinned keys and principals: verifies OpenPGP and SSH signatures over given bytes.
//!
//! A key counts because its full fingerprint is pinned, never because of a web of trust, a user id or a
//! key server. GnuPG does the cryptography in a throw-away home that holds the pinned keys and nothing
//! else; what its answer means is decided here: see [`Keyring::verify_commit_signature`].

mod armor;
mod home;
mod keyring;
mod packet;
mod period;
mod pin;
mod refusal;
pub mod sshsig;
mod verify;

pub use keyring::{Keyring, KeyringError};
pub use pin::{Pin, Pinned};
pub use refusal::{SignatureError, SignatureRefusal};
pub use verify::Signed;
