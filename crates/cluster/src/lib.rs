//! The only crate that talks to the API server.
