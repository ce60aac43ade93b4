//! The lock and the records against a real API server.

mod bed;
mod lock;
mod records;
