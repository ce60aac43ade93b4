//! Tests against the real `gpg` and `ssh-keygen`.

mod keyring;
mod openpgp;
mod signer;
mod ssh;
