//! The only state that Windlass keeps: in the record namespace of the cluster, and on the agent's disk.
//!
//! In the cluster, per environment: one ConfigMap that says where the environment stands ([`Store`]), one
//! ConfigMap a run ([`RunRecord`]), and one Lease ([`Lock`]). All of them are created by POST and changed by
//! compare-and-swap, never by server-side apply, which knows no "only if unchanged".
//! On the disk: the journal ([`Journal`]), which holds every write before it is sent, in a folder a run
//! ([`trim_reports`]).

mod error;
mod journal;
mod lease;
mod lock;
mod map;
mod renewal;
mod reports;
mod run;
mod runs;
mod state;
mod store;

pub use error::{LockError, RecordError};
pub use journal::{Entry, Journal, unanswered};
pub use lease::{Holder, LockStatus};
pub use lock::Lock;
pub use reports::trim_reports;
pub use run::{RunRecord, StageRecord};
pub use runs::History;
pub use state::{Delivered, EnvironmentState};
pub use store::Store;

/// The label by which everything of an environment is found.
pub(crate) const ENVIRONMENT: &str = "windlass.dev/environment";
/// The label that tells run records (`run`) from states (`state`).
pub(crate) const RECORD: &str = "windlass.dev/record";
