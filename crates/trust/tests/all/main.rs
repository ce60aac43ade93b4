//! Tests against the real `gpg` and `ssh-keygen`.

#[cfg(test)]
mod keyring;
#[cfg(test)]
mod openpgp;
#[cfg(test)]
mod signer;
#[cfg(test)]
mod ssh;
