//! What a CustomResourceDefinition says about its objects, judged without the server.
//!
//! Objects whose definition comes or changes with the same commit cannot be dry-run: the server does not know the
//! kind, or judges by the old schema. This crate does what the server would do with the new one: it looks for
//! unknown fields, sets defaults, checks the structural schema, and evaluates the CEL rules
//! (`x-kubernetes-validations`). What it cannot decide it says; it neither passes nor fails it.
//!
//! The API server is the oracle: `tests/server` gives the same definitions and objects to both.

mod defaults;
mod definition;
mod flaw;
mod format;
mod limits;
mod lists;
mod logic;
mod metadata;
mod node;
mod pattern;
mod rule;
mod shape;
mod unknown;
mod url;
mod validator;

pub use definition::{Definition, Version};
pub use flaw::{Findings, Flaw, FlawKind, Unchecked};
pub use validator::Validator;
