//! The harness that the end-to-end tests share.
