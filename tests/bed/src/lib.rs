//! What the tests of several crates share: the server that they ask, plans to begin with, and manifests that others
//! publish. A dependency of tests alone.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "what a test relies on may fail it"
)]

mod plans;
mod published;
mod server;
mod webhook;

pub use plans::{assert_lines, plan_of, rendering};
pub use published::{definitions, documents, kafka, module};
pub use server::{SOON, connect, kubeconfig, kubectl, shell, variable};
pub use webhook::{Says, Webhook};
