//! Observing and planning against the real API server of the testbed; `make test` starts it.

mod adoption;
mod bed;
mod changes;
mod failures;
mod pending;
mod prunes;
