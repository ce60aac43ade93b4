//! Pinned keys and principals: verifies OpenPGP and SSH signatures over given bytes.
