//! The harness that the end-to-end tests share.
//!
//! A [`World`] is everything one test needs: keys, a repository, an environment file, names of its own on the
//! shared control plane. A test writes [`Files`], commits them, calls the real `windlass` binary and looks at
//! the [`Outcome`], at the cluster ([`Kubectl`]) and at the API server's [`Audit`] log.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a harness says no by panicking: that fails the test"
)]

mod audit;
mod bed;
mod files;
mod githost;
mod keys;
mod kubectl;
pub mod manifests;
mod outcome;
mod platform;
mod process;
mod proxy;
mod raw;
mod repository;
mod snapshot;
mod wait;
mod wire;
mod world;

pub use audit::{Audit, Request};
pub use bed::Bed;
pub use files::Files;
pub use githost::GitHost;
pub use keys::{Keys, OpenPgpKey, SshKey};
pub use kubectl::Kubectl;
pub use outcome::Outcome;
pub use platform::Platform;
pub use process::Process;
pub use proxy::{Fate, Proxy, Sight};
pub use raw::{Raw, Reply};
pub use repository::{Change, Repository};
pub use snapshot::{difference, normalise};
pub use wait::until;
pub use world::World;
